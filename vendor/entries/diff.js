export {createTwoFilesPatch, diffArrays, diffWordsWithSpace, parsePatch, structuredPatch} from "diff";
