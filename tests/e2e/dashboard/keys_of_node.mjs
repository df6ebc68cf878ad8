// Keys of the algorithms that the tests have no crate for. Reads a command as JSON and prints its answer.
//   {"make": "rsa" | "ec"}          → {"pem", "spki", "jwk"}: a new key pair
//   {"pem": …, "message": base64}   → {"signature"}: with SHA-256; of an EC key in DER, as authenticators sign
import { generateKeyPairSync, sign } from "node:crypto";
import { readFileSync } from "node:fs";

const command = JSON.parse(readFileSync(0, "utf8"));

function make(kind) {
  const options = kind === "rsa" ? { modulusLength: 2048 } : { namedCurve: "P-256" };
  const { publicKey, privateKey } = generateKeyPairSync(kind, options);
  return {
    pem: privateKey.export({ format: "pem", type: "pkcs8" }),
    spki: publicKey.export({ format: "der", type: "spki" }).toString("base64"),
    jwk: publicKey.export({ format: "jwk" }),
  };
}

const answer = command.make
  ? make(command.make)
  : { signature: sign("sha256", Buffer.from(command.message, "base64"), command.pem).toString("base64") };
console.log(JSON.stringify(answer));
