/** Runs before anything is drawn, so that a page never shows another theme first. No module. */

(() => {
  try {
    const { contrast, density, ...preferences } = JSON.parse(localStorage.getItem("preferences") || "{}");
    const query = new URLSearchParams(location.search);
    const theme = (query.get("embed") === "1" && query.get("theme")) || preferences.theme;
    const root = document.documentElement.dataset;
    root.theme = theme && theme !== "contrast" ? theme : "";
    root.contrast = theme === "contrast" || contrast ? "more" : "";
    root.density = density || "normal";
  } catch {
    // the page is as the system has it
  }
})();
