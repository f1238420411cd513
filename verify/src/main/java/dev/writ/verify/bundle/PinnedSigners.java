package dev.writ.verify.bundle;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.crypto.Algorithm;
import dev.writ.canonicalize.dsse.Envelope;
import dev.writ.canonicalize.trust.KeyRole;
import dev.writ.canonicalize.trust.Trust;
import dev.writ.canonicalize.trust.TrustedKey;
import dev.writ.executor.document.RunClosing;
import dev.writ.executor.journal.EventKind;
import dev.writ.guardian.JudgeInputs;
import dev.writ.guardian.document.Decision;
import dev.writ.guardian.document.Request;
import dev.writ.ledger.DocumentSource;
import dev.writ.ledger.event.Event;
import dev.writ.verify.error.BundleError;
import java.time.Instant;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;

/**
 * Collects the signers of a bundle, and compares them with the pins, whose holder, window,
 * revocation and required algorithms apply whatever the bundle's own system run says
 * (spec/bundle.md, "Pins"). It keeps one entry for each key.
 */
final class PinnedSigners {
  private final Trust log;
  private final TreeMap<String, Signed> signed = new TreeMap<>();

  /** With which algorithms documents of each role were signed; there are few different sets. */
  private final EnumMap<KeyRole, Set<EnumSet<Algorithm>>> ofDocuments =
      new EnumMap<>(KeyRole.class);

  private Optional<Event> last = Optional.empty();

  /**
   * The earliest and the latest event for which a key signed; none if it signed only a kept
   * checkpoint.
   */
  private record Signed(Optional<Event> first, Optional<Event> last) {
    static final Signed NEVER = new Signed(Optional.empty(), Optional.empty());

    Signed and(Event event) {
      return new Signed(
          first.filter(f -> !event.at().isBefore(f.at())).or(() -> Optional.of(event)),
          last.filter(l -> !event.at().isAfter(l.at())).or(() -> Optional.of(event)));
    }
  }

  /**
   * @param log the keys after the bundle's whole system run
   */
  PinnedSigners(Trust log) {
    this.log = log;
  }

  /**
   * Adds the next event in the order of the log; the signatures of its documents are verified
   * already.
   */
  void event(Event event, DocumentSource documents) {
    last = Optional.of(event);
    switch (event.kind()) {
      case EventKind.RUN_OPENED, EventKind.EFFECT_FINISHED -> {
        // no document of its own
      }
      case EventKind.REQUEST_RECEIVED -> {
        Envelope request = signers(event, documents, event.body());
        Request.read(request.document()).delegations().forEach(link -> signers(event, link));
      }
      case EventKind.DECISION_MADE -> {
        Envelope decision = signers(event, documents, event.body());
        JudgeInputs.read(Decision.read(decision.document()).inputs())
            .artifacts()
            .forEach(artifact -> signers(event, documents, artifact.id()));
      }
      case EventKind.RUN_CLOSED -> {
        Envelope closing = signers(event, documents, event.body());
        signers(event, documents, RunClosing.read(closing.document()).request());
      }
      default -> signers(event, documents, event.body());
    }
  }

  private Envelope signers(Event event, DocumentSource documents, Digest document) {
    Envelope envelope =
        documents
            .document(document)
            .orElseThrow(() -> new WritException(BundleError.ENTRY_MISSING, document.toString()));
    signers(event, envelope);
    return envelope;
  }

  private void signers(Event event, Envelope envelope) {
    List<TrustedKey> keys =
        envelope.signatures().stream().flatMap(s -> log.key(s.kid()).stream()).toList();
    keys.forEach(key -> signed.merge(key.kid(), Signed.NEVER.and(event), (s, _) -> s.and(event)));
    algorithms(keys);
  }

  private void algorithms(List<TrustedKey> signers) {
    EnumSet<Algorithm> found = EnumSet.noneOf(Algorithm.class);
    signers.forEach(key -> found.add(key.key().algorithm()));
    signers.forEach(
        key -> ofDocuments.computeIfAbsent(key.role(), _ -> new LinkedHashSet<>()).add(found));
  }

  /** The bundle's checkpoint was signed after its last event. */
  void checkpoint(TrustedKey signer) {
    last.ifPresent(
        event -> signed.merge(signer.kid(), Signed.NEVER.and(event), (s, _) -> s.and(event)));
    algorithms(List.of(signer));
  }

  /** A kept checkpoint, for which the time of signing is unknown. */
  void kept(TrustedKey signer) {
    signed.putIfAbsent(signer.kid(), Signed.NEVER);
    algorithms(List.of(signer));
  }

  /** How many keys signed. */
  int size() {
    return signed.size();
  }

  /** How many of them are pinned. */
  long pinned(Trust pins) {
    return signed.keySet().stream().filter(kid -> pins.key(kid).isPresent()).count();
  }

  /**
   * @throws WritException {@code RPL-080} for another holder, {@code RPL-081} for a revocation that
   *     the log does not show, {@code RPL-082} for a signature out of the pinned window, {@code
   *     RPL-083} for an algorithm that the pins require and a document lacks
   */
  void hold(Trust pins) {
    signed.forEach((kid, when) ->
        pins.key(kid)
            .ifPresent(pin -> {
              TrustedKey enrolled = log.key(kid).orElseThrow();
              holder(pin, enrolled);
              revocation(pin, enrolled, when);
              when.first().ifPresent(event -> window(pin, event));
              when.last().ifPresent(event -> window(pin, event));
            }));
    ofDocuments.forEach((role, found) -> algorithms(pins, role, found));
  }

  private static void holder(TrustedKey pin, TrustedKey enrolled) {
    if (!pin.sameHolder(enrolled) || !pin.key().equals(enrolled.key())) {
      throw new WritException(
          BundleError.PIN_HOLDER,
          "key " + pin.kid() + ": pinned " + holder(pin) + ", enrolled " + holder(enrolled));
    }
  }

  private static String holder(TrustedKey key) {
    return "as "
        + key.role().text()
        + key.tenant().map(t -> " of " + t).orElse("")
        + " "
        + key.subject()
        + key.key().relyingParty().map(id -> " at " + id).orElse("");
  }

  /**
   * Refuses a pinned revocation that the log does not show, or shows only after the key signed
   * again. One that the log shows no later is applied by each document's position in the log.
   */
  private static void revocation(TrustedKey pin, TrustedKey enrolled, Signed when) {
    if (pin.revokedAt().isEmpty()) {
      return;
    }
    Instant revoked = pin.revokedAt().get();
    String pinned = "key " + pin.kid() + ": pinned as revoked at " + revoked + ", ";
    if (enrolled.revokedAt().isEmpty()) {
      throw new WritException(
          BundleError.PIN_REVOKED, pinned + "the log shows no revocation of it");
    }
    Instant shown = enrolled.revokedAt().get();
    if (shown.isAfter(revoked)) {
      when.last()
          .filter(event -> !event.at().isBefore(revoked))
          .ifPresent(event -> {
            throw new WritException(
                BundleError.PIN_REVOKED,
                pinned
                    + "the log shows that at "
                    + shown
                    + ", and it signed for "
                    + References.place(event)
                    + " at "
                    + event.at());
          });
    }
  }

  private static void window(TrustedKey pin, Event event) {
    if (!pin.isValidAt(event.at())) {
      throw new WritException(
          BundleError.PIN_WINDOW,
          "key "
              + pin.kid()
              + ": pinned from "
              + pin.notBefore()
              + pin.notAfter().map(end -> " to " + end).orElse("")
              + ", it signed for "
              + References.place(event)
              + " at "
              + event.at());
    }
  }

  private static void algorithms(Trust pins, KeyRole role, Set<EnumSet<Algorithm>> documents) {
    List<Algorithm> required = pins.requiredAlgorithms(role);
    if (!documents.stream()
        .allMatch(found -> required.stream().allMatch(a -> pins.isSigned(role, a, found)))) {
      EnumSet<Algorithm> inEach = EnumSet.allOf(Algorithm.class);
      documents.forEach(inEach::retainAll);
      throw new WritException(
          BundleError.PIN_ALGORITHMS,
          "role "
              + role.text()
              + ": pinned to sign with "
              + required.stream().map(Algorithm::text).toList()
              + ", all of its documents here have "
              + inEach.stream().map(Algorithm::text).toList());
    }
  }
}
