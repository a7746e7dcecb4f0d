// A click on a hypothesis, a link to it or the arrow keys show how it came about.
for (const search of document.querySelectorAll(".search")) {
  const key = search.dataset.key, caption = search.querySelector(".chosen");
  const at = (step, place) => document.getElementById(`${key}-${step}-${place}`);
  const stepOf = (node) => Number(node.dataset.step ?? node.id.split("-")[1]);
  let lit = [];
  const show = (node) => {
    for (const one of lit) one.classList.remove("on");
    lit = [];
    const names = [];
    for (let step = stepOf(node), one = node; one; ) {
      one.classList.add("on");
      lit.push(one);
      const name = one.dataset.name;
      if ("moved" in one.dataset) names.unshift(name.trim() ? name : JSON.stringify(name));
      one = one.dataset.parent === undefined ? null : at(--step, one.dataset.parent);
    }
    const path = names.join(names.some((name) => name.includes(" ")) ? ", " : " ");
    caption.textContent = `${path} (${node.title})`;
  };
  const beside = {
    ArrowLeft: (node) => node.dataset.parent !== undefined && at(stepOf(node) - 1, node.dataset.parent),
    ArrowRight: (node) => {
      const after = node.closest(".beam").nextElementSibling;
      const place = node.dataset.step === undefined ? node.id.split("-")[2] : "none";
      return after?.querySelector(`.node[data-parent="${place}"]`);
    },
    ArrowUp: (node) => node.previousElementSibling,
    ArrowDown: (node) => node.nextElementSibling,
  };
  search.addEventListener("click", (happened) => {
    const node = happened.target.closest(".beam > .node");
    if (node) show(node);
  });
  search.querySelector(".beams").addEventListener("keydown", (happened) => {
    if (!(happened.key in beside)) return;
    happened.preventDefault();
    const next = lit.length ? beside[happened.key](lit[0]) : at(0, 0);
    if (!next || !next.matches(".node")) return;
    show(next);
    next.scrollIntoView({ block: "nearest", inline: "nearest" });
  });
  const linked = () => {
    const node = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (!node || !search.contains(node) || !node.matches(".node")) return false;
    show(node);
    return true;
  };
  addEventListener("hashchange", linked);
  const lost = search.querySelector(".beam > .node.fall");
  if (!linked() && lost) {  // open where the best output was lost
    const beam = lost.closest(".beam"), beams = search.querySelector(".beams");
    show(lost);
    beams.scrollLeft += beam.getBoundingClientRect().right - beams.getBoundingClientRect().left
      - beams.clientWidth / 2;
  }
}
