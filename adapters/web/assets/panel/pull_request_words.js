// What is said of a pull request, or of there being none. Pure.

/** @typedef {import("../wire/types.js").ChatDiffStatus} Status */

/** The colours of words; the others have none. @type {Record<string, string>} */
export const TONES = { open: "go", approved: "go", "changes requested": "wait", closed: "stop" };

/** Return the state of a pull request in a word. @param {Status} status */
export function stateWord({ pull_request_state: state = "", pull_request_draft: isDraft }) {
  return state === "open" && isDraft ? "draft" : state;
}

/** Return what reviewers have said, or "". @param {Status} status */
export function reviewWords({ changes_requested: isAsked, approved: isApproved, reviewer_count: count = 0 }) {
  if (isAsked) return "changes requested";
  if (isApproved) return "approved";
  return count ? `${count} ${count === 1 ? "reviewer" : "reviewers"}` : "";
}

/**
 * Return why no pull request of a branch is known.
 * @param {{archived: boolean, diff_status?: Status}} chat
 * @param {{host: string, has_token: boolean, failure?: string, delayed_until?: string}[] | null} forges
 *   the user's tokens; null: they are unknown, or those of another user count
 */
export function whyUnknown({ archived: isArchived, diff_status: status }, forges) {
  if (status?.refreshed_at) return "There is no pull request of this branch.";
  if (!status?.stale_at) return isArchived ? "The forge is not asked about an archived chat." : "The remote of this branch is at none of the forges that are set up here.";
  const known = forges ?? [];
  const refused = known.filter((forge) => forge.failure).map((forge) => `${forge.host} does not take your token.`);
  const delayed = known.filter((forge) => forge.delayed_until).map((forge) => `${forge.host} asks for patience.`);
  const without = known.filter((forge) => !forge.has_token).map((forge) => forge.host);
  const missing = without.length ? [`You have no token at ${without.join(" and ")}.`] : [];
  const owners = forges ? [] : ["Its owner may have no token there."];
  return ["The forge has not told of this branch.", ...refused, ...delayed, ...missing, ...owners].join(" ");
}
