// The keys n and p lead to the next error and the previous one.
addEventListener("keydown", (happened) => {
  const name = { n: "next-error", p: "previous-error" }[happened.key];
  if (!name || happened.ctrlKey || happened.metaKey || happened.altKey) return;
  if (happened.target.matches("input, textarea, select")) return;
  const cases = [...document.querySelectorAll(".case")];
  const above = cases.filter((one) => one.getBoundingClientRect().top < innerHeight / 3);
  const here = above.length ? above[above.length - 1] : cases[0];
  const link = document.querySelector(`.forms .${name}`) ?? here?.querySelector(`.${name}`);
  if (link) link.click();
});
