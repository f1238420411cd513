package dev.writ.replay.peer;

import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.crypto.VerifyingKey;
import dev.writ.canonicalize.json.JsonValue;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;
import java.util.SortedSet;
import java.util.TreeSet;

/** One verification of a chain, from its first receipt to its last. */
final class PeerChain {
  /** Digits of a key that are shown, as a person compares them. */
  private static final int SHOWN = 16;

  private final PeerVerification.Options options;
  private final List<String> verified = new ArrayList<>();
  private final List<String> notVerified = new ArrayList<>();
  private final SortedSet<String> ids = new TreeSet<>();
  private final SortedSet<String> signers = new TreeSet<>();
  private Optional<PeerFormat> format = Optional.empty();
  private int receipts;
  private boolean beginsLater;

  PeerChain(PeerVerification.Options options) {
    this.options = options;
  }

  PeerVerification result() {
    return of(Optional.empty());
  }

  PeerVerification failed(WritException failure) {
    notVerified.clear();
    notVerified.add("everything behind the first failure");
    return of(Optional.of(failure));
  }

  private PeerVerification of(Optional<WritException> failure) {
    return new PeerVerification(
        format.map(PeerFormat::name),
        receipts,
        !options.keys().isEmpty(),
        endIsKnown() && !beginsLater,
        verified,
        notVerified,
        failure);
  }

  void verify(JsonValue text) {
    List<JsonValue.Obj> all = recognise(text);
    receipts = all.size();
    if (all.isEmpty()) {
      throw new WritException(PeerError.EMPTY, "no receipt in it");
    }
    PeerFormat known = format.orElseThrow();
    PeerReceipt first = known.read("/0", all.getFirst());
    PeerReceipt last = first;
    String digest = "";
    for (int i = 0; i < all.size(); i++) {
      String path = "/" + i;
      last = i == 0 ? first : known.read(path, all.get(i));
      expectUnseen(path, last);
      if (i > 0) {
        expectLink(path, last, digest);
        known.follows(path, all.get(i - 1), all.get(i));
      }
      digest = signedDigest(path, last);
    }
    expectBeginning(known, first);
    verified.add(signatures(known));
    if (receipts > 1) {
      verified.add(
          "each names the one before it: none was added, taken out or moved between the first and"
              + " the last");
    }
    verifyEnd(digest);
    notVerified.addAll(known.leavesOpen());
    if (!last.unsigned().isEmpty()) {
      notVerified.add(
          "of the last receipt, which no signature holds: " + String.join(", ", last.unsigned()));
    }
  }

  private List<JsonValue.Obj> recognise(JsonValue text) {
    for (PeerFormat candidate : PeerFormat.ALL) {
      Optional<List<JsonValue.Obj>> found = candidate.receipts(text);
      if (found.isPresent()) {
        format = Optional.of(candidate);
        return found.get();
      }
    }
    throw new WritException(
        PeerError.FORMAT,
        "known are " + String.join(", ", PeerFormat.ALL.stream().map(PeerFormat::name).toList()));
  }

  private void expectUnseen(String path, PeerReceipt receipt) {
    if (!ids.add(receipt.id())) {
      throw new WritException(PeerError.CHAIN, path + " has the id of an earlier receipt");
    }
  }

  private static void expectLink(String path, PeerReceipt receipt, String digest) {
    if (!receipt.before().equals(Optional.of(digest))) {
      throw new WritException(PeerError.CHAIN, path + " does not name the receipt before it");
    }
  }

  private void expectBeginning(PeerFormat known, PeerReceipt first) {
    if (first.before().isEmpty()) {
      return;
    }
    if (!known.mayBeginLater()) {
      throw new WritException(PeerError.CHAIN, "/0 names a receipt before it");
    }
    beginsLater = true;
    notVerified.add("what came before the first receipt, which names one that is not here");
  }

  /** The digest of the spelling that was signed. */
  private String signedDigest(String path, PeerReceipt receipt) {
    byte[] signature =
        receipt
            .signature()
            .orElseThrow(() -> new WritException(PeerError.UNSIGNED, path + " has no signature"));
    for (VerifyingKey key : options.keys().isEmpty() ? ownKey(receipt) : options.keys()) {
      for (int i = 0; i < receipt.signed().size(); i++) {
        if (holds(key, receipt.signed().get(i), signature)) {
          expectOwnKey(path, receipt, key);
          signers.add(HexFormat.of().formatHex(key.bytes()).substring(0, SHOWN));
          return receipt.digests().get(i);
        }
      }
    }
    throw new WritException(
        PeerError.SIGNATURE,
        options.keys().isEmpty() ? path + ", whose own key was tried, if it has one" : path);
  }

  private static void expectOwnKey(String path, PeerReceipt receipt, VerifyingKey signer) {
    if (receipt.ownKey().isPresent()
        && !PeerKeys.parse(receipt.ownKey().get()).equals(Optional.of(signer))) {
      throw new WritException(
          PeerError.UNSIGNED_STATEMENT, path + " names another key than the one that signed it");
    }
  }

  private static List<VerifyingKey> ownKey(PeerReceipt receipt) {
    return receipt.ownKey().flatMap(PeerKeys::parse).stream().toList();
  }

  private static boolean holds(VerifyingKey key, byte[] signed, byte[] signature) {
    try {
      key.verify(signed, signature);
      return true;
    } catch (WritException e) {
      return false;
    }
  }

  private String signatures(PeerFormat known) {
    String whose = options.keys().isEmpty() ? "a key that it names for itself, " : "a pinned key, ";
    if (options.keys().isEmpty()) {
      notVerified.add("who signed: no key was given with --key, and a chain's own proves nothing");
    }
    return receipts
        + (receipts == 1 ? " receipt" : " receipts, each")
        + " of "
        + known.name()
        + " signed by "
        + whose
        + String.join(", ", signers)
        + ": "
        + known.covers();
  }

  private boolean endIsKnown() {
    return options.last().isPresent() || options.count().isPresent();
  }

  private void verifyEnd(String digest) {
    options
        .last()
        .ifPresent(wanted -> {
          if (!wanted.equals(digest)) {
            throw new WritException(PeerError.END, "the last receipt is " + digest);
          }
          verified.add("the last is " + digest);
        });
    options
        .count()
        .ifPresent(wanted -> {
          if (wanted != receipts) {
            throw new WritException(PeerError.END, "receipts: " + receipts + ", not " + wanted);
          }
          verified.add("there are " + receipts);
        });
    if (!endIsKnown()) {
      notVerified.add(
          "the end: whether receipts are missing behind the last, "
              + digest
              + "; give --last or --count");
    }
  }
}
