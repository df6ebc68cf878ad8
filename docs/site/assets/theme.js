// Runs before the page is drawn: sets the colors that this reader chose, and marks that scripts run.
{
  const { documentElement } = document;
  documentElement.classList.add("scripted");
  try {
    const theme = localStorage.getItem("theme");
    if (theme === "light" || theme === "dark") documentElement.dataset.theme = theme;
  } catch {
    // Storage may be off.
  }
}
