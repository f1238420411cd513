package dev.writ.replay.peer;

import dev.writ.canonicalize.ErrorCode;

/** Refusals of receipts of others (spec/peers.md). */
public enum PeerError implements ErrorCode {
  FORMAT(
      "PRC-001",
      "the file is no chain of receipts that is known",
      "spec/peers.md says which are read; export the chain again with the system that wrote it."),
  EMPTY(
      "PRC-002",
      "the chain has no receipt",
      "Ask for the receipts: an empty chain says nothing of what was done."),
  UNSIGNED(
      "PRC-003",
      "a receipt is not signed",
      "Do not believe it: anybody may have written it. Ask for the chain as it was signed."),
  SIGNATURE(
      "PRC-004",
      "a receipt's signature does not hold under any of the keys",
      "Obtain the signer's key by another way than this file and give it with --key; if it is"
          + " that key, the receipt was changed or another signed it."),
  CHAIN(
      "PRC-005",
      "the receipts are no chain",
      "A receipt was changed, added, taken out or moved. Ask for the chain as it was signed."),
  END(
      "PRC-006",
      "the chain ends elsewhere",
      "Receipts are missing at the end, or came after what --last or --count says. Ask for the"
          + " rest, or for what it should be."),
  WEAK_FORM(
      "PRC-007",
      "the receipt is signed in a form in which the signature does not tell what was signed",
      "Ask for receipts of the version receipt.v5, signed with Ed25519."),
  UNSIGNED_STATEMENT(
      "PRC-008",
      "a receipt states something that its signature does not cover",
      "Do not believe it: anybody may have written it. Ask for the chain without it.");

  private final Entry entry;

  PeerError(String code, String meaning, String remedy) {
    this.entry = new Entry(code, meaning, remedy);
  }

  @Override
  public Entry entry() {
    return entry;
  }
}
