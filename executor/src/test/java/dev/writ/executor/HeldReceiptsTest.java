package dev.writ.executor;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.executor.error.ExecutorError;
import dev.writ.executor.stage.Unsigned;
import dev.writ.ledger.error.LedgerError;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

class HeldReceiptsTest {
  private static final Instant AT = Instant.parse("2026-11-21T12:00:00Z");

  private Instant now = AT;
  private boolean maySign = true;
  private int signed;
  private final HeldReceipts held =
      new HeldReceipts((failures, _) -> failures < 3, () -> now, _ -> maySign);

  private static Digest request(int n) {
    return Digest.sha256(new byte[] {(byte) n, (byte) (n >> 8)});
  }

  private void hold(int n, long bytes) {
    hold(n, bytes, () -> signed++);
  }

  private void hold(int n, long bytes, Runnable signs) {
    held.later(new Unsigned(request(n), AT, bytes, _ -> signs.run()));
  }

  @Test
  void theyAreSignedOnceInTheirOrder() {
    hold(2, 1);
    hold(1, 1);
    assertThat(held.requests()).containsExactly(request(2), request(1));
    assertThat(held.sign(request(1), null)).isTrue();
    assertThat(held.sign(request(1), null)).isTrue();
    assertThat(signed).isEqualTo(1);
    assertThat(held.requests()).containsExactly(request(2));
  }

  @Test
  void thereIsRoomForSoMany() {
    for (int n = 0; n < HeldReceipts.RECEIPTS_MAX + 5; n++) {
      hold(n, 0);
    }
    assertThat(held.requests()).hasSize(HeldReceipts.RECEIPTS_MAX);
  }

  @Test
  void thereIsRoomForSoMuch() {
    hold(1, HeldReceipts.BYTES_MAX);
    hold(2, 1);
    assertThat(held.requests()).containsExactly(request(1));
    assertThat(held.sign(request(1), null)).isTrue();
    hold(2, HeldReceipts.BYTES_MAX);
    assertThat(held.requests()).containsExactly(request(2));
  }

  @Test
  void oneThatCannotBeSignedYetStays() {
    hold(
        1,
        1,
        () -> {
          throw new WritException(ExecutorError.RECEIPT_FAILED, "away");
        });
    assertThat(held.sign(request(1), null)).isFalse();
    assertThat(held.requests()).hasSize(1);
  }

  @Test
  void whatTheLedgerRefusesIsToldAndStays() {
    hold(
        1,
        1,
        () -> {
          throw new WritException(LedgerError.DISK_FULL, "for a test");
        });
    assertThatThrownBy(() -> held.sign(request(1), null)).hasMessageContaining("LED-005");
    assertThat(held.requests()).hasSize(1);
  }

  @Test
  void aKeyWhoseTimeBeganLaterDoesNotSignWhatEndedBefore() {
    hold(1, 1);
    maySign = false;
    assertThat(held.sign(request(1), null)).isFalse();
    assertThat(signed).isZero();
    maySign = true;
    assertThat(held.sign(request(1), null)).isTrue();
    assertThat(signed).isEqualTo(1);
  }

  @Test
  void whatIsTooOldIsNotSigned() {
    hold(1, 1);
    now = AT.plus(HeldReceipts.LONGEST);
    hold(2, 1);
    assertThat(held.sign(request(2), null)).isTrue();
    now = now.plusMillis(1);
    assertThat(held.sign(request(1), null)).isTrue();
    assertThat(signed).isEqualTo(1);
    assertThat(held.requests()).isEqualTo(List.of());
  }

  private static WritException failed(Exception why) {
    return new WritException(ExecutorError.RECEIPT_FAILED, "away", why);
  }

  private static WritException away() {
    return failed(new WritException(ExecutorError.OWN_KEY, "gone"));
  }

  private void holdOneThat(WritException failure, Runnable signs) {
    held.after(3, failure);
    hold(1, 1, signs);
    held.signedBy(request -> held.sign(request, null));
  }

  @Test
  void whileOneIsNotSignedNothingMayBeDispatched() {
    held.requireSigns();
    holdOneThat(
        away(),
        () -> {
          throw away();
        });
    assertThatThrownBy(held::requireSigns)
        .hasMessageContaining("EXE-912")
        .hasMessageContaining("gone; nothing was dispatched");
    assertThat(held.requests()).hasSize(1);
  }

  @Test
  void onceOneIsSignedEverythingMayBe() {
    holdOneThat(away(), () -> signed++);
    hold(2, 1, () -> signed++);
    held.requireSigns();
    held.requireSigns();
    assertThat(signed).isEqualTo(1);
  }

  @Test
  void whereNoneCanBeTriedTheEffectItselfShowsIt() {
    holdOneThat(away(), () -> signed++);
    maySign = false;
    held.requireSigns();
    assertThat(signed).isZero();
  }

  @Test
  void aFailureWithoutACodeSaysNothingOfTheNextTime() {
    WritException bug = failed(new IllegalStateException("a bug"));
    holdOneThat(
        bug,
        () -> {
          throw bug;
        });
    held.requireSigns();
    assertThat(held.requests()).hasSize(1);
  }

  @Test
  void whileOneIsTriedOthersAreRefusedAtOnce() {
    holdOneThat(
        away(),
        () -> {
          signed++;
          assertThatThrownBy(() -> CompletableFuture.runAsync(held::requireSigns).join())
              .hasMessageContaining("EXE-912");
        });
    held.requireSigns();
    assertThat(signed).isEqualTo(1);
  }

  @Test
  void thePatienceIsTheGivenOne() {
    WritException why = new WritException(ExecutorError.RECEIPT_FAILED, "away");
    assertThat(held.after(2, why)).isTrue();
    assertThat(held.after(3, why)).isFalse();
  }
}
