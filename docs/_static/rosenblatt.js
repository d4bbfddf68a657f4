// What a screen reader needs and the theme and the gallery leave out.
addEventListener("DOMContentLoaded", () => {
  for (const button of document.querySelectorAll(".search-button-field")) {
    button.setAttribute("aria-label", button.innerText.trim() || "Search"); // the name it shows, keys included
  }
  for (const summary of document.querySelectorAll("nav summary")) {
    summary.setAttribute("aria-label", `Pages below ${summary.closest("li")?.querySelector("a")?.textContent.trim()}`);
  }
  for (const card of document.querySelectorAll(".sphx-glr-thumbcontainer")) {
    const title = card.querySelector(".sphx-glr-thumbnail-title")?.textContent ?? "";
    card.querySelector("a")?.setAttribute("aria-label", title);
  }
});
// A table that does not fit gets the class `wide`, and each cell the name of its column.
addEventListener("DOMContentLoaded", () => {
  const mark = () => {
    for (const table of document.querySelectorAll(".bd-article table.table:not(.autosummary)")) {
      if (table.classList.contains("wide") || table.closest("#slide-by-slide, #section-by-section")) continue;
      if (table.closest("details:not([open])") || table.scrollWidth <= table.parentElement.clientWidth) continue;
      const names = [...table.querySelectorAll("thead th")].map((cell) => cell.textContent.trim());
      for (const cell of table.querySelectorAll("tbody td")) cell.dataset.label = names[cell.cellIndex] ?? "";
      table.classList.add("wide");
    }
  };
  mark();
  addEventListener("load", mark); // formulas are typeset then
  addEventListener("toggle", mark, true); // a folded part was opened
});
// The reference was one page. Its old anchors lead to the pages that its names have now.
addEventListener("DOMContentLoaded", () => {
  const wanted = location.hash.slice(1).replace(/^module-/, "");
  if (!/\/reference\.html$/.test(location.pathname) || !wanted.startsWith("rosenblatt.")) return;
  const links = [...document.querySelectorAll("article table a[href*='#rosenblatt.']")];
  const target = links
    .filter((link) => `${wanted}.`.startsWith(`${link.hash.slice(1)}.`) || link.hash.startsWith(`#${wanted}.`))
    .sort((a, b) => b.hash.length - a.hash.length)[0];
  if (target) location.replace(target.href.split("#")[0] + location.hash);
});
