export {decodeHTMLStrict} from "entities";
