package dev.writ.embed.error;

import dev.writ.canonicalize.ErrorCode;

/** Refusals of keys whose secret halves an agent, a token or a service has (spec/keys.md). */
public enum SignerError implements ErrorCode {
  NO_AGENT(
      "SGN-001",
      "no key agent can be reached",
      "Start one and give it the key: eval \"$(ssh-agent)\" && ssh-add FILE. SSH_AUTH_SOCK has its"
          + " socket. For a key of a token set WRIT_PKCS11."),
  KEY_ABSENT(
      "SGN-002", "the agent does not have the key", "See `ssh-add -l`, and add it: ssh-add FILE."),
  KEY_AMBIGUOUS(
      "SGN-003",
      "several keys of the agent have this comment",
      "Name one by its fingerprint, agent:SHA256:…: see `ssh-add -l`."),
  KEY_KIND(
      "SGN-004",
      "the agent's key is of an algorithm that is not supported",
      "Use an Ed25519 key of type ssh-ed25519: ssh-keygen -t ed25519."),
  REFUSED(
      "SGN-005",
      "the agent refused to sign",
      "Unlock it (ssh-add -X), confirm the question that it asks, or touch the device; then"
          + " again."),
  GARBAGE(
      "SGN-006",
      "the agent's answer is not understood",
      "Check that SSH_AUTH_SOCK names the socket of an ssh agent."),
  LOST("SGN-007", "the agent did not answer", "Check that it runs: ssh-add -l. Then again."),
  TOO_LONG(
      "SGN-008",
      "the document is longer than an agent takes",
      "Sign it with a key in a file: agents take messages of up to 256 KiB."),
  TOKEN_URI(
      "SGN-010",
      "the pkcs11: URI does not say which key is meant",
      "Write it as pkcs11:token=LABEL;object=KEY?module-path=/FILE.so&pin-source=file:/PINFILE;"
          + " what is the same for all keys can stand in WRIT_PKCS11."),
  TOKEN_MODULE(
      "SGN-011",
      "the PKCS#11 module cannot be used",
      "Give the file of a PKCS#11 library in module-path, such as libsofthsm2.so or that of the"
          + " device's maker: pkcs11-tool --module FILE --list-slots."),
  TOKEN_ABSENT(
      "SGN-012",
      "the module has not exactly one such token",
      "Put it in, or name it by token= and serial=: pkcs11-tool --module FILE --list-slots."),
  TOKEN_PIN(
      "SGN-013",
      "the token's PIN is missing or wrong",
      "Name a file of mode 0600 with the PIN in pin-source, or set WRIT_PKCS11_PIN. A token locks"
          + " itself after a few wrong ones."),
  TOKEN_KEY_ABSENT(
      "SGN-014",
      "the token does not have the key",
      "See what it has: pkcs11-tool --module FILE --login --list-objects."),
  TOKEN_KEY_AMBIGUOUS(
      "SGN-015", "the token has several such keys", "Name one by its id: pkcs11:id=%01."),
  TOKEN_KEY_KIND(
      "SGN-016",
      "the token's key cannot be used",
      "Make an Ed25519 key with its public half: pkcs11-tool --module FILE --login --keypairgen"
          + " --key-type EC:edwards25519 --id 01 --label KEY. Where the token does not have that,"
          + " EC:prime256v1."),
  TOKEN_FAILED(
      "SGN-017",
      "the token did not sign",
      "See what the module says of it: pkcs11-tool --module FILE --list-slots. Then again."),
  SERVICE_UNKNOWN(
      "SGN-018",
      "there is no library for keys of this service",
      "Write awskms: for a key of AWS KMS. In a program of your own, have writ-kms on the class"
          + " path."),
  SERVICE_URI(
      "SGN-020",
      "the awskms: URI does not say which key is meant",
      "Write awskms: and the key's whole ARN, as `aws kms describe-key` shows it:"
          + " awskms:arn:aws:kms:REGION:ACCOUNT:key/ID. An alias is not taken, since it can be"
          + " moved to another key."),
  SERVICE_CREDENTIALS(
      "SGN-021",
      "there are no credentials that the service takes",
      "Set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or give the machine a role; see whether"
          + " they have expired, and whether this machine's clock is right."),
  SERVICE_DENIED(
      "SGN-022",
      "the service does not let these credentials use the key",
      "Allow kms:GetPublicKey and kms:Sign on the key, in its key policy and in the policy of the"
          + " role."),
  SERVICE_KEY_ABSENT(
      "SGN-023",
      "the service does not have the key in this region",
      "Compare region, account and id with `aws kms describe-key`. A key that was deleted is"
          + " gone: enrol another."),
  SERVICE_KEY_STATE(
      "SGN-024",
      "the service's key is disabled, or waits for its deletion",
      "Enable it again (`aws kms enable-key`, `aws kms cancel-key-deletion`), or enrol another."),
  SERVICE_KEY_KIND(
      "SGN-025",
      "the service's key cannot be used",
      "Make one with the usage SIGN_VERIFY of ECC_NIST_P256, or of ECC_NIST_EDWARDS25519 for small"
          + " documents."),
  SERVICE_UNREACHABLE(
      "SGN-026",
      "the service did not answer in time",
      "See whether this machine reaches it (https://kms.REGION.amazonaws.com, or the endpoint in"
          + " the URI), and what its status page says. Then again."),
  SERVICE_BUSY(
      "SGN-027",
      "the service takes no more requests for now",
      "Again, with fewer at once; have the quota of the account for cryptographic operations with"
          + " ECC keys raised."),
  SERVICE_TOO_LONG(
      "SGN-028",
      "the document is longer than the service takes for an Ed25519 key",
      "Use a key of ECC_NIST_P256, whose documents may have any length: the service gets the"
          + " digest alone."),
  SERVICE_ANSWER(
      "SGN-029",
      "the service's answer is not understood",
      "See what answers at the endpoint, and the code that it gave.");

  private final Entry entry;

  SignerError(String code, String meaning, String remedy) {
    this.entry = new Entry(code, meaning, remedy);
  }

  @Override
  public Entry entry() {
    return entry;
  }
}
