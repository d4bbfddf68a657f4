// What a screen reader needs and the theme and the gallery leave out.
addEventListener("DOMContentLoaded", () => {
  for (const button of document.querySelectorAll(".search-button-field")) {
    button.setAttribute("aria-label", button.innerText.trim() || "Search"); // the name it shows, keys included
  }
  for (const card of document.querySelectorAll(".sphx-glr-thumbcontainer")) {
    const title = card.querySelector(".sphx-glr-thumbnail-title")?.textContent ?? "";
    card.querySelector("a")?.setAttribute("aria-label", title);
  }
});
