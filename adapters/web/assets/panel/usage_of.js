// Tokens and money by model: made of the messages of a chat. Pure.

/** @typedef {{model: string, input: number, cached: number, output: number, micros: number, unpriced: number, priced: boolean}} ModelUse */

/**
 * Return what each model has read and written, the one that has read most first.
 * @param {readonly any[]} messages
 * @returns {ModelUse[]}
 */
export function byModel(messages) {
  /** @type {Map<string, ModelUse>} */
  const uses = new Map();
  for (const { usage, cost_micros: cost, model_config_id: model = "" } of messages) {
    if (!usage && cost === undefined) continue; // nothing was bought
    const use = uses.get(model) ?? { model, input: 0, cached: 0, output: 0, micros: 0, unpriced: 0, priced: false };
    uses.set(model, use);
    use.input += usage?.input_tokens ?? 0;
    use.cached += usage?.cache_read_tokens ?? 0;
    use.output += usage?.output_tokens ?? 0;
    use.micros += cost ?? 0;
    use.unpriced += cost === null ? 1 : 0; // nobody knows it
    use.priced ||= cost !== undefined;
  }
  return [...uses.values()].filter((use) => use.input || use.output).sort((one, other) => other.input - one.input);
}

/** @param {ModelUse[]} uses @returns {ModelUse} */
export function sumOf(uses) {
  const sum = (/** @type {"input" | "cached" | "output" | "micros" | "unpriced"} */ name) => uses.reduce((all, use) => all + use[name], 0);
  return {
    model: "", input: sum("input"), cached: sum("cached"), output: sum("output"), micros: sum("micros"), unpriced: sum("unpriced"),
    priced: uses.some((use) => use.priced),
  };
}
