// The model and the efforts that were chosen last in this browser: new chats begin with them.

const KEY = "composer.choice";

/** @typedef {{model: string, efforts: Record<string, string>}} Choice */

/** @returns {Choice} */
export function lastChoice() {
  try {
    return { model: "", efforts: {}, ...JSON.parse(localStorage.getItem(KEY) ?? "{}") };
  } catch {
    return { model: "", efforts: {} };
  }
}

/** Remember what is chosen. @param {string} model @param {string | null} effort null: that of the model stays */
export function keepChoice(model, effort) {
  const { efforts } = lastChoice();
  localStorage.setItem(KEY, JSON.stringify({ model, efforts: effort ? { ...efforts, [model]: effort } : efforts }));
}
