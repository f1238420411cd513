package dev.writ.tools.wasm;

import static org.assertj.core.api.Assertions.assertThat;

import com.dylibso.chicory.runtime.ByteArrayMemory;
import com.dylibso.chicory.runtime.Memory;
import com.dylibso.chicory.wasm.types.MemoryLimits;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.function.Function;
import org.junit.jupiter.api.Test;

/**
 * A guest's memory does what Chicory's own does, in values, bounds and words; and guests that start
 * from one image see nothing of each other.
 */
class AGuestsMemoryIsChicorysTest {
  private static final int PAGES = 3;
  private static final int MOST = 5;
  private static final int PAGE = Memory.PAGE_SIZE;

  private static MemoryLimits limits(int pages) {
    return new MemoryLimits(pages, MOST);
  }

  /** Addresses where something could go wrong, and any. */
  private static int address(Random random, int pages) {
    int edge = random.nextInt(pages + 1) * PAGE;
    return switch (random.nextInt(10)) {
      case 0, 1, 2, 3 -> edge + random.nextInt(20) - 10;
      case 4 -> random.nextInt();
      case 5 -> random.nextBoolean() ? Integer.MAX_VALUE - random.nextInt(9) : -random.nextInt(9);
      default -> random.nextInt(pages * PAGE);
    };
  }

  private static Function<Memory, Object> operation(Random random, int pages) {
    int at = address(random, pages);
    int other = address(random, pages);
    int size = random.nextBoolean() ? random.nextInt(30) : random.nextInt(2 * PAGE + 10);
    long value = random.nextLong();
    return switch (random.nextInt(20)) {
      case 0 -> m -> m.read(at);
      case 1 -> m -> m.readShort(at);
      case 2 -> m -> m.readU16(at);
      case 3 -> m -> m.readInt(at);
      case 4 -> m -> m.readLong(at);
      case 5 -> m -> Float.floatToRawIntBits(m.readFloat(at));
      case 6 -> m -> Double.doubleToRawLongBits(m.readDouble(at));
      case 7 -> m -> m.readF32(at);
      case 8 -> m -> m.readF64(at);
      case 9 -> m -> Arrays.hashCode(m.readBytes(at, size));
      case 10 -> done(m -> m.writeByte(at, (byte) value));
      case 11 -> done(m -> m.writeShort(at, (short) value));
      case 12 -> done(m -> m.writeI32(at, (int) value));
      case 13 -> done(m -> m.writeLong(at, value));
      case 14 -> done(m -> m.writeF32(at, (int) value));
      case 15 -> done(m -> m.writeF64(at, value));
      case 16 -> done(m -> m.fill((byte) value, at, at + size));
      case 17 -> done(m -> m.copy(at, other, size));
      case 18 -> done(m -> m.write(at, bytes(value, size), 1, size - 1));
      default -> m -> m.pages() + " " + m.grow((int) value % 3);
    };
  }

  private static byte[] bytes(long seed, int size) {
    byte[] bytes = new byte[Math.max(1, size)];
    new Random(seed).nextBytes(bytes);
    return bytes;
  }

  private static Function<Memory, Object> done(java.util.function.Consumer<Memory> work) {
    return memory -> {
      work.accept(memory);
      return "done";
    };
  }

  private static Object resultOf(Function<Memory, Object> operation, Memory memory) {
    try {
      return operation.apply(memory);
    } catch (RuntimeException e) {
      return e.getClass().getName() + ": " + e.getMessage();
    }
  }

  private static byte[] all(Memory memory) {
    return memory.readBytes(0, memory.pages() * PAGE);
  }

  @Test
  void everyOperationAnswersAsTheirsDoesInBoundsAndOut() {
    for (long seed = 0; seed < 30; seed++) {
      Random random = new Random(seed);
      Memory ours = new GuestMemory(limits(PAGES));
      Memory theirs = new ByteArrayMemory(limits(PAGES));
      for (int i = 0; i < 2_000; i++) {
        Function<Memory, Object> operation = operation(random, ours.pages());
        assertThat(resultOf(operation, ours)).isEqualTo(resultOf(operation, theirs));
      }
      assertThat(all(ours)).isEqualTo(all(theirs));
    }
  }

  @Test
  void guestsOfOneImageStartEqualAndSeeNothingOfEachOther() {
    Memory before = new GuestMemory(limits(PAGES));
    before.write(PAGE - 5, bytes(1, 20), 0, 20); // the last page stays zero
    byte[] contents = all(before);
    MemoryImage image = MemoryImage.of(before);
    before.fill((byte) 9, 0, PAGES * PAGE); // an image holds what was, not what is
    List<Memory> guests = new ArrayList<>();
    List<Memory> flat = new ArrayList<>();
    for (int i = 0; i < 4; i++) {
      GuestMemory guest = new GuestMemory(limits(1), Optional.of(image));
      assertThat(guest.restore()).isTrue();
      assertThat(all(guest)).isEqualTo(contents);
      guests.add(guest);
      Memory theirs = new ByteArrayMemory(limits(PAGES));
      theirs.write(0, contents, 0, contents.length);
      flat.add(theirs);
    }
    Random random = new Random(5);
    for (int i = 0; i < 20_000; i++) {
      int who = random.nextInt(guests.size());
      Function<Memory, Object> operation = operation(random, guests.get(who).pages());
      assertThat(resultOf(operation, guests.get(who)))
          .isEqualTo(resultOf(operation, flat.get(who)));
    }
    for (int i = 0; i < guests.size(); i++) {
      assertThat(all(guests.get(i))).isEqualTo(all(flat.get(i)));
    }
    GuestMemory late = new GuestMemory(limits(PAGES), Optional.of(image));
    assertThat(late.restore()).isTrue();
    assertThat(all(late)).as("after all that was written").isEqualTo(contents);
    assertThat(MemoryImage.ZEROS).containsOnly(0);
  }

  @Test
  void anImageThatIsLargerThanTheLimitIsRefused() {
    MemoryImage image = MemoryImage.of(new ByteArrayMemory(limits(PAGES)));
    GuestMemory small = new GuestMemory(new MemoryLimits(1, 2), Optional.of(image));
    assertThat(small.restore()).isFalse();
    assertThat(small.refused()).isTrue();
    assertThat(small.pages()).isEqualTo(1);
  }
}
