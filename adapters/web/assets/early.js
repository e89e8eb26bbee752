/** Runs before anything is drawn, so that a page never shows another theme first. No module. */

(() => {
  try {
    const { theme, contrast, density } = JSON.parse(localStorage.getItem("preferences") || "{}");
    const root = document.documentElement.dataset;
    root.theme = theme && theme !== "contrast" ? theme : "";
    root.contrast = theme === "contrast" || contrast ? "more" : "";
    root.density = density || "normal";
  } catch {
    // the page is as the system has it
  }
})();
