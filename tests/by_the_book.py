"""The paper in plain Python lists: every equation and algorithm that the tensors must agree with.

No tensors, no batches, no cleverness. A search space is a function from a path (a tuple) to the
list of its one-step extensions; a terminal path has none. `s` and `c` are lists over A_b.
"""

from math import exp, inf, log

# --- the two orders (Section 4.1; ties to the smaller index) ------------------------------------


def hat(s):
    return sorted(range(len(s)), key=lambda i: (-s[i], i))


def star(c):
    return sorted(range(len(c)), key=lambda i: (c[i], i))


# --- Eqs. (6)-(12) and (16)-(20) ----------------------------------------------------------------


def perceptron_first(s, c, k):
    return max(0.0, s[hat(s)[0]] - s[star(c)[0]])


def perceptron_last(s, c, k):
    if len(s) <= k:
        return 0.0
    return max(0.0, s[hat(s)[k - 1]] - s[star(c)[0]])


def margin_last(s, c, k):
    if len(s) <= k:
        return 0.0
    return max(0.0, 1 + s[hat(s)[k - 1]] - s[star(c)[0]])


def cost_sensitive_margin_last(s, c, k):
    if len(s) <= k:
        return 0.0
    last, best = hat(s)[k - 1], star(c)[0]
    return (c[last] - c[best]) * max(0.0, 1 + s[last] - s[best])


def upper_bound(s, c, k):
    order = star(c)
    best = order[0]
    deltas = [(c[j] - c[best]) * (s[j] - s[best] + 1) for j in order[k:]]
    return max([0.0, *deltas])


def log_loss_beam(s, c, k):
    best = star(c)[0]
    inside = {best, *hat(s)[:k]}
    return -s[best] + log(sum(exp(s[i]) for i in inside))


def log_loss_neighbors(s, c, k):
    return -s[star(c)[0]] + log(sum(exp(x) for x in s))


def cost_sensitive_margin_beam(s, c, k):
    best = star(c)[0]
    return -s[best] + max(c[i] - c[best] + s[i] for i in hat(s)[:k])


def softmax_margin_beam(s, c, k):
    best = star(c)[0]
    return -s[best] + log(sum(exp(c[i] - c[best] + s[i]) for i in hat(s)[:k]))


def pair(s, c, i, j):
    return (c[j] - c[i]) * max(0.0, s[j] - s[i] + 1)


def weighted_pairs_all(s, c, k):
    order, n = star(c), len(s)
    return sum(pair(s, c, order[i], order[j]) for i in range(n) for j in range(i + 1, n))


def weighted_pairs_bipartite(s, c, k):
    order, n = star(c), len(s)
    return sum(pair(s, c, order[i], order[j]) for i in range(min(k, n)) for j in range(k, n))


def weighted_pairs_hybrid(s, c, k):
    order, n = star(c), len(s)
    return sum(pair(s, c, order[i], order[j]) for i in range(min(k, n)) for j in range(i + 1, n))


LOSSES = {
    f.__name__: f
    for f in (
        perceptron_first,
        perceptron_last,
        margin_last,
        cost_sensitive_margin_last,
        upper_bound,
        log_loss_beam,
        log_loss_neighbors,
        cost_sensitive_margin_beam,
        softmax_margin_beam,
        weighted_pairs_all,
        weighted_pairs_bipartite,
        weighted_pairs_hybrid,
    )
}


# --- several cheapest neighbors: best="all" (not in the paper, which takes star(1) to be unique) --


def merged(s, c):
    """A_b without any cheapest neighbor but the best-scored one, the first in the order hat."""
    best = next(i for i in hat(s) if c[i] == min(c))
    left = [i for i in range(len(s)) if i == best or c[i] > min(c)]
    return [s[i] for i in left], [c[i] for i in left]


def log_loss_all(s, c, inside):
    """Minus log of the share that the cheapest neighbors have of themselves and `inside`."""
    cheapest = {i for i in range(len(c)) if c[i] == min(c)}
    mass = {i: exp(s[i]) for i in {*cheapest, *inside}}
    return -log(sum(mass[i] for i in cheapest)) + log(sum(mass.values()))


def all_best(name, s, c, k):
    if name == "log_loss_beam":
        return log_loss_all(s, c, hat(s)[:k])
    if name == "log_loss_neighbors":
        return log_loss_all(s, c, range(len(s)))
    return LOSSES[name](*merged(s, c), k)


# --- what people compare with (not in the paper) ------------------------------------------------


def optimal_completion(s, c, k, temperature=0.0):
    wanted = [float(x == min(c)) for x in c]
    if temperature:
        wanted = [exp((min(c) - x) / temperature) for x in c]
    wanted = [w / sum(wanted) for w in wanted]
    normalizer = log(sum(exp(x) for x in s))
    return sum(w * (log(w) - (x - normalizer)) for w, x in zip(wanted, s, strict=True) if w > 0)


def minimum_risk(s, c, k, sharpness=1.0):
    kept = hat(s)[:k]
    weights = [exp(sharpness * s[i]) for i in kept]
    risk = sum(w * (c[i] - min(c)) for w, i in zip(weights, kept, strict=True))
    return risk / sum(weights)


def minimum_risk_sampled(s, c, k, q=None):
    q = [1.0] * len(s) if q is None else q
    return sum(exp(x) / y * z for x, y, z in zip(s, q, c, strict=True) if y)


BASELINES = {f.__name__: f for f in (optimal_completion, minimum_risk, minimum_risk_sampled)}


def increase(s, c, k):
    """c(b, b') for the beam b' that the scores induce."""
    return min(c[i] for i in hat(s)[:k]) - min(c)


# --- c* (Section 2) -----------------------------------------------------------------------------


def completion_cost(neighbors, cost, path):
    """c*(v): the cost of the best terminal reachable from v, by listing all of them."""
    below = neighbors(path)
    if not below:
        return cost(path)
    return min(completion_cost(neighbors, cost, child) for child in below)


# --- Algorithms 1 and 2 -------------------------------------------------------------------------


def neighbors_of_beam(neighbors, beam):
    """A_b in the order of its index; a finished hypothesis is its own only neighbor."""
    return [child for v in beam for child in (neighbors(v) or [v])]


def best(a, k, key):
    """BEST(A, k, f): the first min(k, n) of A by decreasing f, ties by index."""
    order = sorted(range(len(a)), key=lambda i: (key(a[i]), i))
    return [a[i] for i in order[:k]]


def policy(neighbors, a, k, key, finish, last=1):
    """POLICY with terminals: the next beam, and whether it is a terminal one, of `last` nodes."""
    complete = [v for v in a if not neighbors(v)]
    if finish == "first":
        if best(a, 1, key)[0] in complete:
            return best(complete, min(last, k), key), True
        return best([v for v in a if v not in complete], k, key), False
    if len(complete) == len(a):
        return best(a, min(last, k), key), True
    return best(a, k, key), False


def learn_to_search(neighbors, score, cost, reference, root, roll_in, roll_out_by, coin):
    """LOLS along one greedy trajectory: the visited nodes, and the costs of their neighbors.

    `roll_in` and `roll_out_by` are the probabilities of the reference, which goes to the neighbor
    that is cheapest by `reference`, ties by score. `coin(p)` draws one roll-out policy for all
    neighbors of a node, then the policy that takes the step.
    """

    def learned(v):
        return max(neighbors(v), key=score)

    def taught(v):
        return min(neighbors(v), key=lambda child: (reference(child), -score(child)))

    def reached(v, by):
        while neighbors(v):
            v = by(v)
        return cost(v)

    node, visited, costs = root, [root], []
    while neighbors(node):
        by = taught if coin(roll_out_by) else learned
        costs.append([reached(child, by) for child in neighbors(node)])
        node = taught(node) if coin(roll_in) else learned(node)
        visited.append(node)
    return visited, costs


def beam_search(neighbors, score, root, k, finish="pad"):
    """Algorithm 1: the visited beams, and the ranked neighbors at the last transition."""
    if not neighbors(root):
        return [[root]], [root]
    beams = [[root]]
    while True:
        a = neighbors_of_beam(neighbors, beams[-1])
        following, done = policy(neighbors, a, k, lambda v: -score(v), finish)
        beams.append(following)
        if done:
            complete = [v for v in a if not neighbors(v)]
            return beams, best(complete, k, lambda v: -score(v))


def beam_trajectory(neighbors, score, cstar, root, k, strategy, finish="pad", coins=None, last=1):
    """Algorithm 2, with `strategy` one of the names or a pair such as ("reset", "keep").

    Returns the visited beams, per transition whether the learned policy raises the cost, A_b
    and effective width of each visited beam, and Theorem 4's indicator.
    """
    beams, increased, visited, on_policy = [[root]], [], [], True
    if not neighbors(root):
        return beams, increased, visited, on_policy
    coins = iter(coins or [])
    kind, to = strategy if isinstance(strategy, tuple) else (strategy, "best")
    while True:
        a = neighbors_of_beam(neighbors, beams[-1])

        def by_score(v):
            return -score(v)

        def by_cost(v):
            return (cstar(v), -score(v))

        def in_order(beam, a=a):
            return sorted(beam, key=lambda v: (-score(v), a.index(v)))

        def oracle(k, a=a):
            following, done = policy(neighbors, a, k, by_cost, finish, last)
            return in_order(following), done

        learned, learned_done = policy(neighbors, a, k, by_score, finish, last)
        up = min(map(cstar, learned)) > min(map(cstar, a))
        increased.append(up)
        visited.append((a, effective_width(neighbors, score, cstar, a, k, finish, last)))
        chosen, done, stopped = learned, learned_done, False
        if kind == "oracle" or (kind == "interpolate" and next(coins)):
            chosen, done = oracle(k)
        elif up and kind == "stop":
            stopped = True
        elif up and kind == "reset":
            chosen, done = oracle(k if to == "oracle_beam" else 1)
            if to == "keep" and not done:
                chosen = in_order([*learned[:-1], chosen[0]])
        own = chosen == learned and not stopped
        on_policy = on_policy and (own or (learned_done and (done or stopped)))
        beams.append(chosen)
        if done or stopped:
            return beams, increased, visited, on_policy


def effective_width(neighbors, score, cstar, a, k, finish, last=1):
    """`last` where the transition leads to a terminal beam (or, if finish is "first", ought to)."""
    if all(not neighbors(v) for v in a):
        return min(last, k)
    if finish == "first":
        top = best(a, 1, lambda v: -score(v))[0]
        cheapest = best(a, 1, cstar)[0]
        if not neighbors(top) or not neighbors(cheapest):
            return min(last, k)
    return k


def losses_along(loss, score, cstar, visited):
    """The sum of a loss over the visited beams."""
    return sum(loss([score(v) for v in a], [cstar(v) for v in a], k) for a, k in visited)


def roll_out(neighbors, score, node):
    """Go on to the best-scored neighbor, ties to the first, until there is none."""
    while neighbors(node):
        node = max(neighbors(node), key=score)
    return node


def exhaustive(neighbors, score, root):
    """All terminals, best first."""
    level, done = [root], []
    while level:
        done += [v for v in level if not neighbors(v)]
        level = [child for v in level for child in neighbors(v)]
    return sorted(done, key=lambda v: -score(v))


# --- distances between sequences ----------------------------------------------------------------


def edit_distance(output, reference, insertion=1, deletion=1, substitution=1):
    """The cheapest way to turn the reference into the output."""
    row = [j * deletion for j in range(len(reference) + 1)]
    for a in output:
        above, row = row, [row[0] + insertion]
        for j, b in enumerate(reference, 1):
            replaced = above[j - 1] + (0 if a == b else substitution)
            row.append(min(replaced, above[j] + insertion, row[j - 1] + deletion))
    return row[-1]


def padded_hamming(output, reference):
    """In how many places two sequences differ; a place that only one of them has counts."""
    shared = sum(a != b for a, b in zip(output, reference, strict=False))
    return shared + abs(len(output) - len(reference))


# --- stochastic beams (Kool, van Hoof and Welling 2019) ------------------------------------------


def splitmix(seed, path):
    """Output number path[0] of SplitMix64; from there on output path[1], and so on."""
    key = scrambled(seed + 0x9E3779B97F4A7C15)
    for action in path:
        key = scrambled(key + (action + 1) * 0x9E3779B97F4A7C15)
    return key


def scrambled(z):
    z %= 1 << 64
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9 % (1 << 64)
    z = (z ^ (z >> 27)) * 0x94D049BB133111EB % (1 << 64)
    return z ^ (z >> 31)


def gumbel(seed, path):
    uniform = ((splitmix(seed, path) >> 12) + 0.5) / 2**52
    return -log(-log(uniform))


def stochastic_beams(neighbors, phi, noise, root, k):
    """Algorithm 1 of the paper: pairs (path, G) by decreasing G, and the largest G left out."""
    beam, kappa = [(root, phi(root) + noise(root))], -inf
    while any(neighbors(v) for v, _ in beam):
        found = []
        for v, g in beam:
            free = [phi(child) + noise(child) for child in neighbors(v)]
            found += [] if free else [(v, g)]
            for child, value in zip(neighbors(v), free, strict=True):
                # 1 / exp(-G) of the largest is exp(G) of its parent.
                inner = exp(-g) - exp(-max(free)) + exp(-value)
                found.append((child, g if value == max(free) else -log(inner)))
        found.sort(key=lambda pair: -pair[1])
        beam, left = found[:k], found[k:]
        kappa = max([kappa, *(g for _, g in left)])
    return beam, kappa


def inclusion(phi, kappa):
    return 1 - exp(-exp(phi - kappa)) if kappa > -inf else 1.0


def ordered_sample(probabilities, k):
    """The probability of each ordered choice of k without replacement."""
    if k == 0:
        return {(): 1.0}
    found = {}
    for chosen, share in ordered_sample(probabilities, k - 1).items():
        rest = 1 - sum(probabilities[y] for y in chosen)
        for y in probabilities.keys() - set(chosen):
            found[(*chosen, y)] = share * probabilities[y] / rest
    return found
