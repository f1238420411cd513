package dev.writ.embed.error;

import dev.writ.canonicalize.ErrorCode;

/** Refusals of keys whose secret halves an agent has (spec/keys.md, "Keys in an agent"). */
public enum SignerError implements ErrorCode {
  NO_AGENT(
      "SGN-001",
      "no key agent can be reached",
      "Start one and give it the key: eval \"$(ssh-agent)\" && ssh-add FILE. SSH_AUTH_SOCK has its"
          + " socket."),
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
      "Sign it with a key in a file: agents take messages of up to 256 KiB.");

  private final Entry entry;

  SignerError(String code, String meaning, String remedy) {
    this.entry = new Entry(code, meaning, remedy);
  }

  @Override
  public Entry entry() {
    return entry;
  }
}
