// A client of VNC. What it would show by addresses of data, which the policy of our pages forbids,
// is not asked for: pictures in JPEG or PNG, and pointers, which the screen draws into its picture.

import RFB from "@novnc/novnc";

const JPEG = 21, H264 = 50, TIGHT_PNG = -260, POINTERS = [-239, -314, -311, 0x574d5664];
const isQuality = (encoding) => encoding >= -32 && encoding <= -23; // asks for JPEG in Tight
const unwanted = (encoding) => [JPEG, H264, TIGHT_PNG, ...POINTERS].includes(encoding) || isQuality(encoding);
const say = RFB.messages.clientEncodings;
RFB.messages.clientEncodings = (sock, encodings) => say(sock, encodings.filter((encoding) => !unwanted(encoding)));

export { RFB };
