package dev.writ.canonicalize;

/** The refusals of this module. */
public enum CanonicalizeError implements ErrorCode {
  INVALID_UTF8("CAN-001", "the bytes are not UTF-8", "Send well-formed UTF-8."),
  LONE_SURROGATE("CAN-002", "a string holds half of a surrogate pair", "Send whole characters."),
  SYNTAX("CAN-003", "the text is not JSON", "Send JSON as RFC 8259 writes it."),
  DUPLICATE_KEY("CAN-004", "an object names a key twice", "Name each key once."),
  LEADING_ZERO("CAN-005", "a number has a leading zero", "Write numbers as RFC 8259 does."),
  TRAILING_BYTES("CAN-006", "bytes follow the JSON value", "Send one value and nothing after it."),
  NUMBER_RANGE(
      "CAN-007",
      "a number is larger than an IEEE double can hold",
      "Send such a number as a string."),
  TOO_DEEP("CAN-008", "the value is nested too deeply", "Flatten the value."),
  TOO_LARGE("CAN-009", "the text is too large", "Send large content as a blob, by digest."),
  BYTE_ORDER_MARK("CAN-010", "the text begins with a byte order mark", "Leave the mark out."),
  TRUNCATED("CAN-011", "the text ends inside a value", "Send the whole value."),
  NOT_CANONICAL(
      "CAN-012",
      "the bytes are JSON but not in canonical form",
      "Write the document as RFC 8785 does before signing it."),
  SECOND_OPINION(
      "CAN-013",
      "the second canonicalizer disagrees",
      "Trust neither form; report the document as a defect."),
  NUMBER_UNDERFLOW(
      "CAN-014",
      "a number is not zero, but an IEEE double can only hold it as zero",
      "Send such a number as a string."),

  FIELD_MISSING("CAN-020", "a field is missing", "Add the field."),
  FIELD_UNKNOWN("CAN-021", "a field is not known here", "Leave the field out."),
  FIELD_TYPE("CAN-022", "a field has another type than it must", "Send the type that spec/ names."),
  FIELD_VALUE(
      "CAN-023", "a field has a value that is not allowed", "Send a value that spec/ names."),

  DIGEST_MALFORMED(
      "CAN-040", "a digest is malformed", "Write sha256: and 64 lower-case hexadecimal digits."),

  KEY_MALFORMED("CAN-050", "a key is malformed", "Send a key of a form that spec/keys.md names."),
  KEY_WEAK("CAN-051", "a public key is of low order or not canonical", "Make a new key."),
  KEY_UNKNOWN("CAN-052", "a key is not enrolled", "Enrol it, or sign with an enrolled key."),
  KEY_ROLE(
      "CAN-053", "a key may not sign this", "Sign with a key of the role that spec/keys.md names."),
  KEY_WINDOW(
      "CAN-054", "a key is outside its validity window", "Sign with a key that is valid now."),
  KEY_REVOKED(
      "CAN-055",
      "a key was revoked",
      "Sign with a key that is not revoked. Where it was to be revoked, that is done."),
  KEY_TWICE("CAN-056", "a key is enrolled twice", "Enrol each key once, with one role."),
  KEY_FILE(
      "CAN-057",
      "a key file cannot be read or written",
      "Correct what the message names, and try again."),
  NATIVE_LIBRARY(
      "CAN-058",
      "a native library cannot be unpacked into a directory that is private to this user",
      "Make ~/.cache/writ/native or the directory that XDG_CACHE_HOME names writable for this user"
          + " alone; see spec/storage.md."),
  SIGNATURE_INVALID("CAN-060", "a signature does not verify", "Sign the exact payload again."),
  PAYLOAD_TYPE("CAN-061", "an envelope holds another type of document", "Send the right document."),
  SIGNATURE_MISSING("CAN-062", "a required signature is missing", "Add the signature."),
  SIGNERS_DIFFER(
      "CAN-063",
      "an envelope is signed by more than one holder",
      "Let each holder sign a document of its own."),
  SIGNATURE_TWICE(
      "CAN-064",
      "an envelope is signed by two keys of one algorithm",
      "Sign once with each algorithm."),
  WEBAUTHN_FORM(
      "CAN-065",
      "a passkey's signature has another form than it must",
      "Send the three byte strings that spec/webauthn.md names, as the browser gave them."),
  WEBAUTHN_CHALLENGE(
      "CAN-066",
      "a passkey signed something else",
      "Ask the passkey for an assertion over this document's challenge."),
  WEBAUTHN_ORIGIN(
      "CAN-067",
      "a passkey signed for another site",
      "Sign on a page of the relying party that the key is enrolled for."),
  WEBAUTHN_PERSON(
      "CAN-068",
      "a passkey signed without its user being verified",
      "Ask for an assertion with userVerification required."),
  WEBAUTHN_ROLE(
      "CAN-069",
      "a passkey is enrolled for a role in which no person signs",
      "Enrol it as an approver's, an operator's or a policy owner's."),

  KEY_FILE_MISSING("CAN-070", "there is no key file of that name", "Name the file, or make a key."),
  KEY_FILE_EXISTS(
      "CAN-071", "a file of that name exists", "Choose another name; keys are never overwritten."),
  KEY_FILE_EXPOSED(
      "CAN-072",
      "others may read a key or a PIN that is not encrypted",
      "Run chmod 600 on it; a key can be encrypted under a passphrase, too."),
  KEY_FILE_KIND("CAN-073", "a key file is no regular file", "Name the file itself."),
  KEY_FILE_MALFORMED(
      "CAN-074",
      "a key file is malformed or cut off",
      "Restore it, or bring it into the form that spec/keys.md has."),
  KEY_FILE_ALGORITHM(
      "CAN-075",
      "a key file is of an algorithm that is not supported",
      "Use Ed25519, P-256 (ES256), or ML-DSA-65 as a seed; encrypt by PBES2 with scrypt or"
          + " PBKDF2."),
  KEY_FILE_PASSPHRASE(
      "CAN-076",
      "the passphrase does not open the key file, or the file is damaged",
      "Give the right passphrase, or restore the file."),
  KEY_FILE_PASSPHRASE_MISSING(
      "CAN-077",
      "a passphrase is needed and there is none",
      "Give a passphrase; the command line takes it from WRIT_PASSPHRASE."),
  SIGNER_WRONG(
      "CAN-078",
      "a signer gave a signature that is not the one it was asked for",
      "Nothing was signed: do not trust the signer. See which program listens at SSH_AUTH_SOCK,"
          + " and what WRIT_PKCS11 and WRIT_KMS name."),
  KEY_ROLE_ALGORITHM(
      "CAN-079",
      "a key is of an algorithm in which its role cannot sign",
      "Enrol an Ed25519 key for the log: checkpoints are signed by Ed25519 (spec/log.md).");

  private final Entry entry;

  CanonicalizeError(String code, String meaning, String remedy) {
    this.entry = new Entry(code, meaning, remedy);
  }

  @Override
  public Entry entry() {
    return entry;
  }
}
