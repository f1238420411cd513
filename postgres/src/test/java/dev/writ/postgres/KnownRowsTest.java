package dev.writ.postgres;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.ledger.storage.Family;
import java.nio.ByteBuffer;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** What an owner remembers, where reads and writes overtake one another. */
class KnownRowsTest {
  private static final byte[] KEY = {7};
  private static final Optional<byte[]> OLD = Optional.of(new byte[] {1});
  private static final Optional<byte[]> NEW = Optional.of(new byte[] {2});

  private final KnownRows rows = new KnownRows();
  private final PostgresWrite write = new PostgresWrite();

  KnownRowsTest() {
    write.put(Family.TABLES, KEY, NEW.get());
  }

  private KnownRows.Reading reading() {
    return rows.reading(Family.TABLES, KEY);
  }

  private void assertKnown(Optional<byte[]> row) {
    assertThat(rows.get(Family.TABLES, KEY)).contains(row);
  }

  private void assertNothingKnown() {
    assertThat(rows.get(Family.TABLES, KEY)).isEmpty();
  }

  @Test
  void whatWasReadIsKnownAlsoThatItIsAbsent() {
    assertNothingKnown();
    reading().found(Optional.empty());
    assertKnown(Optional.empty());
    reading().found(OLD);
    assertKnown(OLD);
    assertThat(rows.get(Family.RUNS, KEY)).isEmpty();
  }

  @Test
  void aReadThatAWriteOvertookIsNotBelieved() {
    KnownRows.Reading before = reading();
    rows.writing(write);
    KnownRows.Reading during = reading();
    rows.written(write);
    before.found(OLD);
    during.found(Optional.empty());
    assertKnown(NEW);
  }

  /** The database may show either until it has answered. */
  @Test
  void whileAWriteIsUnderWayNothingIsKnownOfItsRows() {
    reading().found(OLD);
    rows.writing(write);
    assertNothingKnown();
    reading().found(OLD);
    assertNothingKnown();
    rows.refused();
    assertNothingKnown();
    reading().found(OLD);
    assertKnown(OLD);
  }

  @Test
  void aRowThatIsOnlyPutWhereItIsNewIsNotKnownAfterwards() {
    PostgresWrite ifNew = new PostgresWrite();
    ifNew.putNew(Family.TABLES, KEY, NEW.get());
    reading().found(Optional.empty());
    rows.writing(ifNew);
    rows.written(ifNew);
    assertNothingKnown();
  }

  @Test
  void aRowThatWasRemovedIsAbsent() {
    PostgresWrite removing = new PostgresWrite();
    removing.delete(Family.TABLES, KEY);
    rows.writing(removing);
    rows.written(removing);
    assertKnown(Optional.empty());
  }

  @Test
  void itTakesNoMoreThanItMayAndForgetsWhatWasNotUsedLongest() {
    reading().found(OLD);
    rows.reading(Family.TABLES, new byte[0]).found(OLD);
    for (int i = 0; i < 300_000; i++) {
      rows.reading(Family.EVENTS, ByteBuffer.allocate(4).putInt(i).array()).found(OLD);
      rows.get(Family.TABLES, KEY);
    }
    assertThat(rows.bytes()).isBetween(KnownRows.BYTES_MAX / 2L, (long) KnownRows.BYTES_MAX);
    assertKnown(OLD);
    assertThat(rows.get(Family.TABLES, new byte[0])).isEmpty();
    rows.reading(Family.RUNS, KEY).found(Optional.of(new byte[1 << 20]));
    assertThat(rows.get(Family.RUNS, KEY)).isEmpty();
  }
}
