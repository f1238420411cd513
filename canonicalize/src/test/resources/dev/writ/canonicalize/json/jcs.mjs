// The third opinion: RFC 8785 in terms of ECMAScript itself, as its appendix A does it. One request
// a line, one answer a line: "d" and a JSON text in base64, answered by its canonical form in base64
// or "refused"; "n" and the 16 hexadecimal digits of a double, answered by how ECMAScript writes it.
import { createInterface } from "node:readline";

function canonical(value) {
  if (value === null || typeof value !== "object") return JSON.stringify(value);
  if (Array.isArray(value)) return "[" + value.map(canonical).join(",") + "]";
  const members = Object.keys(value).sort();
  return "{" + members.map((key) => JSON.stringify(key) + ":" + canonical(value[key])).join(",") + "}";
}

const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
const bits = new DataView(new ArrayBuffer(8));
let answers = [];

function flush() {
  if (answers.length > 0) process.stdout.write(answers.join("\n") + "\n");
  answers = [];
}

function answer(line) {
  if (line[0] === "n") {
    bits.setBigUint64(0, BigInt("0x" + line.slice(1)));
    return String(bits.getFloat64(0));
  }
  try {
    const text = decoder.decode(Buffer.from(line.slice(1), "base64"));
    return Buffer.from(canonical(JSON.parse(text)), "utf8").toString("base64");
  } catch (e) {
    return "refused";
  }
}

createInterface({ input: process.stdin })
  .on("line", (line) => {
    answers.push(answer(line));
    if (answers.length >= 1000) flush();
  })
  .on("close", flush);
