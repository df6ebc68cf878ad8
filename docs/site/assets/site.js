// The switch of colors, the menu of a phone, and the focus of boxes that scroll.

const { documentElement } = document;
const dark = matchMedia("(prefers-color-scheme: dark)");

const theme = document.getElementById("site-theme");
const isDark = () => (documentElement.dataset.theme ?? (dark.matches ? "dark" : "light")) === "dark";
const showTheme = () => theme.setAttribute("aria-pressed", String(isDark()));

theme.addEventListener("click", () => {
  documentElement.dataset.theme = isDark() ? "light" : "dark";
  try {
    localStorage.setItem("theme", documentElement.dataset.theme);
  } catch {
    // Storage may be off; then the choice applies to this page only.
  }
  showTheme();
});
dark.addEventListener("change", showTheme);
showTheme();

const menu = document.getElementById("site-menu");
const pages = document.getElementById("site-pages");

function showMenu(isShown) {
  pages.classList.toggle("shown", isShown);
  menu.setAttribute("aria-expanded", String(isShown));
}

menu.addEventListener("click", () => {
  showMenu(!pages.classList.contains("shown"));
  scrollTo(0, 0);
});
document.addEventListener("keydown", ({ key }) => {
  if (key !== "Escape" || !pages.classList.contains("shown")) return;
  showMenu(false);
  menu.focus();
});

// Makes boxes that overflow focusable, so that the keyboard can scroll them.
const observer = new ResizeObserver((entries) => {
  for (const { target } of entries) {
    const scrolls = target.scrollWidth > target.clientWidth || target.scrollHeight > target.clientHeight;
    if (scrolls) target.tabIndex = 0;
    else target.removeAttribute("tabindex");
  }
});
for (const element of document.querySelectorAll(".scroll, pre")) observer.observe(element);

// Scrolls a long list of pages, so that the current page is visible.
const current = pages.querySelector("[aria-current]");
if (current && current.offsetTop > pages.clientHeight) pages.scrollTop = current.offsetTop - pages.clientHeight / 2;
