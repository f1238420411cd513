package dev.writ.verify.bundle;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.canonicalize.crypto.Algorithm;
import dev.writ.canonicalize.trust.KeyRole;
import dev.writ.canonicalize.trust.Trust;
import dev.writ.canonicalize.trust.TrustedKey;
import dev.writ.fixture.TestHome;
import dev.writ.fixture.TestKeys;
import dev.writ.ledger.event.Event;
import dev.writ.verify.error.BundleError;
import dev.writ.verify.testing.Refusal;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * What a trust file says of a key binds both verifiers for everyone who signed: who stole the keys
 * of an installation can write a log in which none of them was ever revoked, and cannot write the
 * auditor's pins.
 */
class WhatThePinsSayHoldsTest {
  private static final SecondOpinion OPINION = new SecondOpinion();
  private static final Instant EARLY = Instant.parse("2026-02-01T00:00:00.000Z");
  private static final Instant LATE = Instant.parse("2029-01-01T00:00:00.000Z");

  /** Everybody who signed in {@link #whole}. */
  private static final List<String> SIGNERS =
      List.of("operator", "owner", "guardian", "executor", "log", "alice", "rita");

  /** A closed run, nobody revoked in it. */
  private static byte[] whole;

  /** When the first and the last event of its run were. */
  private static Instant first;

  private static Instant last;

  /** The same run after alice's key was revoked, as it was closed, and as of now. */
  private static byte[] before;

  private static byte[] after;
  private static Instant revokedAt;
  private static Trust now;

  @AfterAll
  static void theSecondVerifierSaysTheSame(@TempDir Path dir) {
    OPINION.compare(dir);
  }

  @BeforeAll
  static void take(@TempDir Path dir) {
    try (TestHome home = Sample.home(dir)) {
      home.clock.stepping(Duration.ofMillis(3));
      Sample.fill(home);
      Sample.close(home, "run-1");
      whole = Sample.export(home);
      List<Event> run = home.log().stream().filter(e -> e.runId().equals(Sample.RUN)).toList();
      first = run.getFirst().at();
      last = run.getLast().at();
      home.clock.forward(Duration.ofHours(2));
      home.revoke("alice");
      home.kernel().checkpoint();
      before = Sample.export(home);
      after =
          BundleExport.of(
              home.ledger(),
              Sample.RUN,
              Sample.packages(home),
              BundleExport.Options.WHOLE.atLatest());
      now = home.kernel().system().trust();
      revokedAt = now.key(TestKeys.key("alice").kid()).orElseThrow().revokedAt().orElseThrow();
    }
  }

  /** All keys of the installation, with one of them changed. */
  private static Trust pins(String name, UnaryOperator<TrustedKey> change) {
    TreeMap<String, TrustedKey> keys = new TreeMap<>();
    TestKeys.PARTIES.forEach(party -> keys.put(party.name(), party.trusted()));
    keys.put("log", TestKeys.trusted("log", KeyRole.LOG, Optional.empty()));
    keys.computeIfPresent(name, (_, key) -> change.apply(key));
    return Trust.of(keys.values());
  }

  private static TrustedKey with(
      TrustedKey key, Instant from, Instant end, Optional<Instant> revoked) {
    return new TrustedKey(
        key.key(), key.role(), key.tenant(), key.subject(), from, Optional.of(end), revoked);
  }

  private static UnaryOperator<TrustedKey> revoked(Instant at) {
    return key -> with(key, key.notBefore(), key.notAfter().orElseThrow(), Optional.of(at));
  }

  private static UnaryOperator<TrustedKey> from(Instant at) {
    return key -> with(key, at, key.notAfter().orElseThrow(), Optional.empty());
  }

  private static UnaryOperator<TrustedKey> until(Instant at) {
    return key -> with(key, key.notBefore(), at, Optional.empty());
  }

  private static UnaryOperator<TrustedKey> held(KeyRole role, String tenant, String subject) {
    return key ->
        new TrustedKey(
            key.key(),
            role,
            Optional.ofNullable(tenant),
            subject,
            key.notBefore(),
            key.notAfter(),
            Optional.empty());
  }

  private static BundleVerifier.Verified holds(byte[] bundle, Trust pins) {
    BundleVerifier.Verified seen = OPINION.verify(bundle, BundleVerifier.Options.pinned(pins));
    assertThat(seen.pinned()).isTrue();
    return seen;
  }

  private static void refused(BundleError code, byte[] bundle, Trust pins) {
    Refusal.of(code, () -> OPINION.verify(bundle, BundleVerifier.Options.pinned(pins)));
  }

  @Test
  void everybodyAsEnrolledIsVerified() {
    BundleVerifier.Verified seen = holds(whole, pins("operator", key -> key));
    assertThat(seen.verified()).anyMatch(line -> line.startsWith("7 pinned keys that signed"));
    assertThat(seen.notVerified()).noneMatch(line -> line.contains("not pinned"));
    assertThat(holds(whole, Sample.pins()).notVerified())
        .anyMatch(line -> line.startsWith("5 keys that signed: not pinned"));
  }

  @Test
  void aRevocationThatTheLogDoesNotShow() {
    for (String name : SIGNERS) {
      refused(BundleError.PIN_REVOKED, whole, pins(name, revoked(EARLY)));
      refused(BundleError.PIN_REVOKED, whole, pins(name, revoked(LATE)));
    }
    // Whoever signed nothing here says nothing about it.
    holds(whole, pins("bob", revoked(EARLY)));
  }

  @Test
  void everyKeyRevokedAtOnce() {
    Trust all =
        Trust.of(pins("", key -> key).keys().values().stream().map(revoked(EARLY)::apply).toList());
    refused(BundleError.PIN_REVOKED, whole, all);
  }

  @Test
  void aRevocationThatALaterBundleShows() {
    refused(BundleError.PIN_REVOKED, before, now);
    assertThat(before).isEqualTo(whole);
    holds(after, now);
    holds(after, pins("alice", revoked(revokedAt)));
    // The auditor learnt of it later than the log, or knows that it was lost earlier.
    holds(after, pins("alice", revoked(LATE)));
    holds(after, pins("alice", revoked(last.plusMillis(1))));
    refused(BundleError.PIN_REVOKED, after, pins("alice", revoked(last)));
    refused(BundleError.PIN_REVOKED, after, pins("alice", revoked(first)));
    holds(after, pins("bob", revoked(EARLY)));
    refused(BundleError.PIN_REVOKED, after, pins("rita", revoked(LATE)));
  }

  @Test
  void aWindowThatDoesNotHoldWhatWasSigned() {
    for (String name : SIGNERS) {
      refused(BundleError.PIN_WINDOW, whole, pins(name, until(EARLY)));
      refused(BundleError.PIN_WINDOW, whole, pins(name, from(LATE)));
    }
    holds(whole, pins("bob", until(EARLY)));
    // alice signed for the first and the last event.
    holds(whole, pins("alice", from(first)));
    refused(BundleError.PIN_WINDOW, whole, pins("alice", from(first.plusMillis(4))));
    holds(whole, pins("alice", until(last.plusMillis(1))));
    refused(BundleError.PIN_WINDOW, whole, pins("alice", until(last)));
    // The checkpoint is no older than the last event that it covers.
    refused(BundleError.PIN_WINDOW, whole, pins("log", until(last)));
    holds(whole, pins("log", until(last.plusMillis(1))));
  }

  @Test
  void anotherHolder() {
    refused(BundleError.PIN_HOLDER, whole, pins("alice", held(KeyRole.SURFACE, "acme", "alice")));
    refused(BundleError.PIN_HOLDER, whole, pins("alice", held(KeyRole.AGENT, "other", "alice")));
    refused(BundleError.PIN_HOLDER, whole, pins("alice", held(KeyRole.AGENT, "acme", "bob")));
    refused(
        BundleError.PIN_HOLDER, whole, pins("guardian", held(KeyRole.EXECUTOR, null, "guardian")));
    refused(
        BundleError.PIN_HOLDER,
        whole,
        pins("operator", held(KeyRole.OPERATOR, "acme", "operator")));
    refused(BundleError.NOT_PINNED, whole, pins("operator", held(KeyRole.AGENT, null, "operator")));
    refused(BundleError.NOT_PINNED, whole, pins("log", held(KeyRole.GUARDIAN, null, "log")));
    holds(whole, pins("bob", held(KeyRole.SURFACE, "acme", "bob")));
  }

  @Test
  void algorithmsThatThePinsRequire() {
    List<Algorithm> both = List.of(Algorithm.ED25519, Algorithm.ML_DSA_65);
    Trust pins = pins("", key -> key);
    for (KeyRole role : List.of(KeyRole.GUARDIAN, KeyRole.AGENT, KeyRole.LOG)) {
      refused(BundleError.PIN_ALGORITHMS, whole, pins.withRequiredAlgorithms(role, both));
    }
    holds(whole, pins.withRequiredAlgorithms(KeyRole.PUBLISHER, both));
    holds(whole, pins.withRequiredAlgorithms(KeyRole.GUARDIAN, List.of(Algorithm.ED25519)));
  }
}
