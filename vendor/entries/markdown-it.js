export {default} from "markdown-it";
export {characters} from "./characters.js";
