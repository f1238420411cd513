// Writes the vectors beside it: node generate.mjs [DIRECTORY]. What is expected comes from ECMAScript
// (JSON.parse, JSON.stringify, Array.prototype.sort), which is what RFC 8785 is defined by, not from
// the code under test. One file, one vector, one reason.
import { createHash } from "node:crypto";
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const directory = process.argv[2] ?? dirname(fileURLToPath(import.meta.url));
mkdirSync(directory, { recursive: true });
const names = new Set();

function write(name, about, bytes, expect) {
  if (names.has(name)) throw new Error("named twice: " + name);
  names.add(name);
  const vector = { about, op: "canonicalize", input: { json_b64: bytes.toString("base64") }, expect };
  writeFileSync(join(directory, name + ".json"), JSON.stringify(vector, null, 2) + "\n");
}

function canonical(value) {
  if (value === null || typeof value !== "object") return JSON.stringify(value);
  if (Array.isArray(value)) return "[" + value.map(canonical).join(",") + "]";
  const members = Object.keys(value).sort();
  return "{" + members.map((key) => JSON.stringify(key) + ":" + canonical(value[key])).join(",") + "}";
}

// The text has a canonical form; where the RFC itself says which, it is given and compared.
function accept(name, about, text, published) {
  const form = canonical(JSON.parse(text));
  if (published !== undefined && form !== published) {
    throw new Error(`${name}: ECMAScript says ${form}, the RFC ${published}`);
  }
  const bytes = Buffer.from(form, "utf8");
  const digest = "sha256:" + createHash("sha256").update(bytes).digest("hex");
  write(name, about, Buffer.from(text, "utf8"), { canonical_b64: bytes.toString("base64"), digest });
}

function refuse(name, about, input, code) {
  write(name, about, Buffer.isBuffer(input) ? input : Buffer.from(input, "utf8"), { code });
}

// RFC 8785, 3.2.2 and 3.2.3: the examples.
accept(
  "rfc8785-3.2.2-sample",
  "RFC 8785, 3.2.2: the sample object",
  '{\n  "numbers": [333333333.33333329, 1E30, 4.50,\n              2e-3, 0.000000000000000000000000001],\n' +
    '  "string": "\\u20ac$\\u000F\\u000aA\'\\u0042\\u0022\\u005c\\\\\\"\\/",\n' +
    '  "literals": [null, true, false]\n}\n',
  '{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],' +
    '"string":"€$\\u000f\\nA\'B\\"\\\\\\\\\\"/"}');
accept(
  "rfc8785-3.2.3-sorting",
  "RFC 8785, 3.2.3: keys in the order of UTF-16 code units",
  '{\n  "\\u20ac": "Euro Sign",\n  "\\r": "Carriage Return",\n' +
    '  "\\ufb33": "Hebrew Letter Dalet With Dagesh",\n  "1": "One",\n' +
    '  "\\ud83d\\ude00": "Emoji: Grinning Face",\n  "\\u0080": "Control",\n' +
    '  "\\u00f6": "Latin Small Letter O With Diaeresis"\n}\n',
  '{"\\r":"Carriage Return","1":"One","\u0080":"Control","ö":"Latin Small Letter O With Diaeresis",' +
    '"€":"Euro Sign","😀":"Emoji: Grinning Face","\ufb33":"Hebrew Letter Dalet With Dagesh"}');

// RFC 8785, appendix B: bits and what they are written as. The input is the double's exact value.
const bits = new DataView(new ArrayBuffer(8));
for (const [hex, text] of [
  ["0000000000000000", "0"], ["8000000000000000", "0"], ["0000000000000001", "5e-324"],
  ["8000000000000001", "-5e-324"], ["7fefffffffffffff", "1.7976931348623157e+308"],
  ["ffefffffffffffff", "-1.7976931348623157e+308"], ["4340000000000000", "9007199254740992"],
  ["c340000000000000", "-9007199254740992"], ["4430000000000000", "295147905179352830000"],
  ["44b52d02c7e14af5", "9.999999999999997e+22"], ["44b52d02c7e14af6", "1e+23"],
  ["44b52d02c7e14af7", "1.0000000000000001e+23"], ["444b1ae4d6e2ef4e", "999999999999999700000"],
  ["444b1ae4d6e2ef4f", "999999999999999900000"], ["444b1ae4d6e2ef50", "1e+21"],
  ["3eb0c6f7a0b5ed8c", "9.999999999999997e-7"], ["3eb0c6f7a0b5ed8d", "0.000001"],
  ["41b3de4355555553", "333333333.3333332"], ["41b3de4355555554", "333333333.33333325"],
  ["41b3de4355555555", "333333333.3333333"], ["41b3de4355555556", "333333333.3333334"],
  ["41b3de4355555557", "333333333.33333343"], ["becbf647612f3696", "-0.0000033333333333333333"],
  ["43143ff3c1cb0959", "1424953923781206.2"],
]) {
  bits.setBigUint64(0, BigInt("0x" + hex));
  const value = bits.getFloat64(0);
  const exact = Object.is(value, -0) ? "-0" : value.toExponential(60);
  accept("rfc8785-b-" + hex, `RFC 8785, appendix B: the double ${hex}`, exact, text);
}

// Numbers.
const numbers = {
  "minus-zero-fraction": ["-0.0", "minus zero is zero"],
  "minus-zero-exponent": ["-0e-5", "minus zero is zero, whatever its exponent"],
  "zero-huge-exponent": ["0e99999999999999999999", "zero has no range"],
  "zero-tiny-exponent": ["0.000e-99999999999999999999", "zero has no range"],
  "integer-15-digits": ["999999999999999", "an integer of 15 digits stands as it is"],
  "integer-16-digits": ["9007199254740991", "2^53 - 1 stands as it is"],
  "integer-odd-past-2-53": ["9007199254740993", "2^53 + 1 is no double: the even neighbour"],
  "integer-2-63": ["-9223372036854775808", "-2^63: the least long, where absolute values overflow"],
  "integer-21-digits": ["123456789012345678901", "21 digits are written without an exponent"],
  "integer-22-digits": ["1234567890123456789012", "22 digits are written with one"],
  "fraction-trailing-zeros": ["1.5000", "zeros at the end of a fraction go"],
  "fraction-integral": ["100.00", "a fraction of zeros goes"],
  "exponent-capital": ["1E2", "an exponent that need not be is resolved"],
  "exponent-plus": ["15e+20", "10^21 is the first with an exponent"],
  "exponent-leading-zeros": ["1e007", "an exponent's zeros go"],
  "exponent-small": ["1e-6", "10^-6 is the last without an exponent"],
  "exponent-smaller": ["1e-7", "10^-7 is the first with one"],
  "exponent-one-digit": ["12e-8", "one digit before the point"],
  "exponent-negative-shift": ["1234.5678e-2", "the point moves left"],
  "exponent-long-fraction": ["0.00000000000000000000000000000123", "zeros become an exponent"],
  "tenth": ["0.1", "the usual suspect"],
  "seventeen-digits": ["0.30000000000000004", "17 digits that all matter"],
  "halfway-to-even": ["9007199254740992.99999999999999999999", "just under halfway"],
  "halfway-sticky": ["9007199254740993." + "0".repeat(900) + "1", "above halfway by the 917th digit"],
  "many-digits": ["0." + "3".repeat(5000), "5,000 digits, of which 17 count"],
  "many-zeros": ["1" + "0".repeat(308), "10^308 in full"],
  "many-zeros-cancelled": ["1" + "0".repeat(5000) + "e-5000", "5,000 zeros and an exponent against them"],
  "many-zeros-after-point": ["0." + "0".repeat(5000) + "1e5001", "the same on the other side"],
  "subnormal-least": ["4.9e-324", "the least double, by Java's name for it"],
  "subnormal-two": ["9.9e-324", "the second least has one digit in ECMAScript, two in Java"],
  "subnormal-1e-315": ["1e-315", "the double on which erdtman 1.1 does not come to an end"],
  "subnormal-7e8": ["1e-320", "the double that erdtman 1.1 writes wrongly"],
  "subnormal-greatest": ["2.2250738585072009e-308", "the greatest subnormal"],
  "normal-least": ["2.2250738585072014e-308", "the least normal"],
  "rounds-to-least": ["2.4703282292062328e-324", "more than half the least double is the least double"],
  "rounds-to-greatest": ["1.7976931348623158e308", "less than half a step above the greatest double"],
};
for (const [name, [text, about]] of Object.entries(numbers)) {
  accept("number-" + name, "number: " + about, text);
}

// Strings, keys, structure.
const texts = {
  "scalar-string": ['"x"', "a string at the top"],
  "scalar-true": [" true ", "a literal at the top, in spaces"],
  "scalar-null": ["null", "null at the top"],
  "empty-object": ["{ }", "an empty object"],
  "empty-array": ["[\n]", "an empty array"],
  "empty-key": ['{"b":1,"":2}', "the empty key comes first"],
  "spaces-all": ['\t\r\n {\t"a"\r:\n[ 1 , 2 ] }\n', "all four kinds of white space go"],
  "nested-unsorted": ['{"b":{"d":{"f":1,"e":2},"c":3},"a":{"h":4,"g":[{"j":5,"i":6}]}}', "order at every level"],
  "array-order": ['[3,1,2,{"b":0,"a":0},1]', "arrays keep their order, the objects in them do not"],
  "key-prefix": ['{"ab":1,"a":2,"abc":3}', "a key comes before those it begins"],
  "key-digits": ['{"10":1,"9":2,"1":3,"-":4}', "keys are text, not numbers"],
  "key-case": ['{"a":1,"B":2,"A":3,"b":4}', "capitals first"],
  "key-proto": ['{"__proto__":1,"a":{"constructor":2}}', "names that ECMAScript knows are plain keys"],
  "key-escaped": ['{"\\u0062":1,"\\u0061":2}', "keys are ordered by what they say, not how it is spelt"],
  "key-escape-mixed": ['{"a\\\\b":1,"a\\"b":2,"a/b":3,"a\\nb":4,"a]b":5}', "escaped and plain keys together"],
  "key-surrogate-order": ['{"\uE000":1,"😀":2,"\uFFFF":3,"\uD7FF":4,"𐀀":5}', "U+10000 and up come before U+E000"],
  "key-surrogate-inner": ['{"a\uFB33":1,"a😀":2}', "the same behind a common beginning"],
  "key-bmp-widths": ['{"\u0800":1,"\u07FF":2,"\u0080":3,"\u007F":4}', "one, two and three bytes"],
  "key-many": ["{" + Array.from({ length: 100 }, (_, i) => `"k${(i * 37) % 100}":${i}`).join(",") + "}", "a hundred keys out of order"],
  "escape-short": ['"\\b\\t\\n\\f\\r\\"\\\\"', "the short escapes stay"],
  "escape-slash": ['"\\/"', "a slash is not escaped"],
  "escape-hex-upper": ['"\\u001F\\u000B"', "hexadecimal digits are lower case"],
  "escape-hex-short": ['"\\u0008\\u0009\\u000a\\u000c\\u000d"', "what has a short escape gets it"],
  "escape-hex-needless": ['"\\u0041\\u00e9\\u20AC"', "what needs no escape has none"],
  "escape-hex-quote": ['"\\u0022\\u005c"', "quote and backslash get their short escapes"],
  "escape-pair": ['"\\uD83D\\ude00"', "an escaped pair is one character of four bytes"],
  "escape-pair-ends": ['"\\ud800\\udc00\\udbff\\udfff"', "the first and last pair"],
  "escape-nul": ['"\\u0000"', "NUL stays escaped"],
  "plain-del": ['"\u007f"', "DEL is not escaped"],
  "plain-line-separators": ['"\u2028\u2029"', "line separators are not escaped"],
  "plain-html": ['"<>&\'"', "nothing is escaped for HTML"],
  "plain-noncharacters": ['"\uFFFE\uFFFF\u{10FFFF}"', "noncharacters are characters"],
  "plain-no-normalization": ['"A\u030A\u00C5"', "Unicode is not normalized"],
  "plain-bom-inside": ['"\uFEFF"', "a byte order mark inside a string is a character"],
  "deep-128": ["[".repeat(128) + "]".repeat(128), "128 levels are allowed"],
};
for (const [name, [text, about]] of Object.entries(texts)) {
  accept("text-" + name, about, text);
}

// Refusals.
const quoted = (...bytes) => Buffer.from([0x22, ...bytes, 0x22]);
const refusals = {
  "CAN-001": {
    "lone-continuation": [quoted(0x80), "a continuation byte without a lead"],
    "overlong-2": [quoted(0xc0, 0xaf), "an overlong slash, two bytes"],
    "overlong-2-c1": [quoted(0xc1, 0xbf), "C1 leads nothing"],
    "overlong-3": [quoted(0xe0, 0x80, 0xaf), "an overlong slash, three bytes"],
    "overlong-4": [quoted(0xf0, 0x80, 0x80, 0xaf), "an overlong slash, four bytes"],
    "surrogate": [quoted(0xed, 0xa0, 0x80), "a surrogate in UTF-8"],
    "cesu": [quoted(0xed, 0xa0, 0xbd, 0xed, 0xb8, 0x80), "a pair of surrogates, CESU-8"],
    "past-10ffff": [quoted(0xf4, 0x90, 0x80, 0x80), "U+110000"],
    "lead-f5": [quoted(0xf5, 0x80, 0x80, 0x80), "F5 leads nothing"],
    "lead-ff": [quoted(0xff), "FF leads nothing"],
    "cut-short": [quoted(0xe2, 0x82), "two bytes of three, then the quote"],
    "in-key": [Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d]), "in a key"],
  },
  "CAN-002": {
    "high": ['"\\ud800"', "a high surrogate alone"],
    "low": ['"\\udc00"', "a low surrogate alone"],
    "reversed": ['"\\ude00\\ud83d"', "a pair the wrong way round"],
    "two-high": ['"\\ud800\\ud800"', "two high surrogates"],
    "high-then-text": ['"\\ud800x"', "a high surrogate before text"],
    "high-then-escape": ['"\\ud800\\n"', "a high surrogate before another escape"],
    "in-key": ['{"\\udfff":1}', "in a key"],
  },
  "CAN-003": {
    "comma-last-array": ["[1,]", "a comma before the end of an array"],
    "comma-last-object": ['{"a":1,}', "a comma before the end of an object"],
    "comma-missing": ["[1 2]", "no comma"],
    "comma-only": ["[,]", "nothing before a comma"],
    "colon-missing": ['{"a" 1}', "no colon"],
    "key-number": ["{1:2}", "a key that is no string"],
    "key-bare": ["{a:1}", "a key without quotes"],
    "bracket-mismatched": ['{"a":1]', "an object closed as an array"],
    "bracket-mismatched-array": ["[1}", "an array closed as an object"],
    "bracket-first": ["]", "a closing bracket first"],
    "control-in-string": [quoted(0x0a), "a line break in a string"],
    "control-nul": [quoted(0x00), "NUL in a string"],
    "escape-unknown": ['"\\x41"', "an escape that JSON has not"],
    "escape-capital-u": ['"\\U0041"', "an escape with a capital U"],
    "escape-hex": ['"\\u00g0"', "a hexadecimal digit that is none"],
    "quotes-single": ["'a'", "single quotes"],
    "literal-capital": ["True", "a capital letter in a literal"],
    "literal-wrong": ["nul!", "a literal that goes astray"],
    "nan": ["NaN", "NaN"],
    "infinity": ["-Infinity", "minus infinity"],
    "number-plus": ["+1", "a plus sign"],
    "number-point-first": [".5", "no digit before the point"],
    "number-point-last": ["[1.]", "no digit after the point"],
    "number-exponent-empty": ["[1e]", "no digit in the exponent"],
    "number-minus-only": ["[-]", "a minus sign alone"],
    "number-hex": ["[0x10]", "a hexadecimal number"],
    "comment": ["/**/1", "a comment"],
    "form-feed": ["\f1", "white space that JSON has not"],
    "no-break-space": ["\u00a01", "a no-break space"],
    "utf-16": [Buffer.from("1", "utf16le").subarray(1), "a NUL byte, as in UTF-16"],
  },
  "CAN-004": {
    "plain": ['{"a":1,"a":2}', "a key twice"],
    "same-value": ['{"a":1,"a":1}', "a key twice with one value"],
    "apart": ['{"a":1,"c":2,"b":3,"a":4}', "a key twice with others between"],
    "escaped": ['{"a":1,"\\u0061":2}', "a key twice in two spellings"],
    "escaped-apart": ['{"\\/":1,"b":2,"/":3}', "the same, apart and unsorted"],
    "pair": ['{"😀":1,"\\ud83d\\ude00":2}', "an astral key, plain and escaped"],
    "empty": ['{"":1,"":2}', "the empty key twice"],
    "nested": ['[{"x":{"a":1,"b":2,"a":3}}]', "deep inside"],
  },
  "CAN-005": {
    "integer": ["01", "a zero before an integer"],
    "negative": ["-01", "the same, negative"],
    "zeros": ["[00]", "two zeros"],
    "fraction": ["00.5", "two zeros before a point"],
  },
  "CAN-006": {
    "value": ["1 2", "two values"],
    "bracket": ["[]]", "a bracket too many"],
    "nul": ["{}\u0000", "a NUL at the end"],
    "comma": ["[],", "a comma at the end"],
    "literal": ["nullx", "letters right after a literal"],
  },
  "CAN-007": {
    "exponent": ["1e400", "an exponent too large"],
    "negative": ["-1e309", "the same, negative"],
    "halfway": ["1.7976931348623159e308", "halfway beyond the greatest double"],
    "digits": ["1" + "0".repeat(309), "10^309 in full"],
    "exponent-huge": ["1e99999999999999999999", "an exponent that fits no integer"],
  },
  "CAN-008": {
    "array": ["[".repeat(129) + "]".repeat(129), "129 levels of arrays"],
    "object": ['{"a":'.repeat(129) + "1" + "}".repeat(129), "129 levels of objects"],
    "before-syntax": ["[".repeat(200), "129 levels, which end the reading before anything else"],
  },
  "CAN-010": {
    "object": [Buffer.from([0xef, 0xbb, 0xbf, 0x7b, 0x7d]), "a byte order mark before an object"],
    "alone": [Buffer.from([0xef, 0xbb, 0xbf]), "a byte order mark and nothing else"],
  },
  "CAN-011": {
    "empty": ["", "nothing"],
    "spaces": [" \n", "white space only"],
    "array": ["[1", "an open array"],
    "object": ['{"a":1', "an open object"],
    "key": ['{"a"', "a key and nothing after it"],
    "colon": ['{"a":', "a colon and nothing after it"],
    "comma": ["[1,", "a comma and nothing after it"],
    "string": ['"abc', "an open string"],
    "escape": ['"\\', "a backslash and nothing after it"],
    "escape-hex": ['"\\u00', "half an escape"],
    "pair": ['"\\ud83d', "half a pair: the rest might have come"],
    "utf-8": [Buffer.from([0x22, 0xf0, 0x9f]), "half a character"],
    "literal": ["tru", "most of a literal"],
    "minus": ["-", "a minus sign"],
    "point": ["1.", "a point"],
    "exponent": ["1e+", "an exponent's sign"],
  },
  "CAN-014": {
    "exponent": ["1e-400", "an exponent too small"],
    "negative": ["-1e-324", "the same, negative"],
    "halfway": ["2.4703282292062327e-324", "half the least double rounds to zero"],
    "digits": ["0." + "0".repeat(400) + "1", "400 zeros after the point"],
    "exponent-huge": ["1e-99999999999999999999", "an exponent that fits no integer"],
  },
};
for (const [code, vectors] of Object.entries(refusals)) {
  for (const [name, [input, about]] of Object.entries(vectors)) {
    refuse(`refused-${code}-${name}`, "refused: " + about, input, code);
  }
}
console.log(names.size + " vectors");
