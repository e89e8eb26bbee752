// Classes of characters as markdown-it wants them. Signs are as the browser knows them, which saves
// their table; the others stand within longer expressions, so they have to be spelled out.
export {Any, Cc, Cf, P, Z} from "../node_modules/uc.micro/build/index.mjs";
export const S = /^\p{S}/u;
