/** The vendors whose providers can be set up, and what a form needs to know of each. Pure. */

/**
 * @typedef {{name: string, url: string, family: string, keys: boolean, hint?: string}} Vendor
 * `url`: where it is, as far as that is known; `family`: the key of its options
 */

/** @type {Record<string, Vendor>} */
export const VENDORS = {
  anthropic: { name: "Anthropic", url: "https://api.anthropic.com", family: "anthropic", keys: true },
  openai: { name: "OpenAI", url: "https://api.openai.com/v1", family: "openai", keys: true },
  google: { name: "Google Gemini", url: "https://generativelanguage.googleapis.com/v1beta", family: "google", keys: true },
  openrouter: { name: "OpenRouter", url: "https://openrouter.ai/api/v1", family: "openrouter", keys: true },
  vercel: { name: "Vercel AI Gateway", url: "https://ai-gateway.vercel.sh/v1", family: "vercel", keys: true },
  azure: { name: "Azure OpenAI", url: "", family: "openai", keys: true, hint: "https://NAME.openai.azure.com/openai/v1" },
  bedrock: { name: "AWS Bedrock", url: "https://bedrock-runtime.us-east-1.amazonaws.com", family: "anthropic", keys: false, hint: "https://bedrock-runtime.REGION.amazonaws.com" },
  "openai-compat": { name: "OpenAI compatible", url: "", family: "openaicompat", keys: true, hint: "http://10.0.0.5:8000/v1" },
};

/** @param {string} type @returns {Vendor} */
export function vendorOf(type) {
  return VENDORS[type] ?? { name: type, url: "", family: type, keys: true };
}

/** @param {any} provider */
export function providerName(provider) {
  const {name} = vendorOf(provider.type);
  return provider.display_name || (provider.name === provider.type ? name : provider.name);
}
