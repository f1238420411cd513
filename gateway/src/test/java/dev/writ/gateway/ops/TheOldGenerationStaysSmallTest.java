package dev.writ.gateway.ops;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.management.ManagementFactory;
import java.lang.management.MemoryPoolMXBean;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.util.List;
import org.junit.jupiter.api.Test;

/** In processes of their own, with the collector that the launcher chooses. */
class TheOldGenerationStaysSmallTest {
  private static final int LIVE_MIB = 20;
  private static final int ALLOCATED_MIB = 2_000;

  /** Holds 20 MiB at any time, each for long enough to get old, and does something with each. */
  static final class Program {
    public static void main(String[] args) throws GeneralSecurityException {
      if (args[0].equals("small")) {
        OldGeneration.keepSmall();
      }
      MemoryPoolMXBean old =
          ManagementFactory.getMemoryPoolMXBeans().stream()
              .filter(pool -> pool.getName().equals("Tenured Gen"))
              .findFirst()
              .orElseThrow();
      MessageDigest digest = MessageDigest.getInstance("SHA-256");
      byte[][] held = new byte[LIVE_MIB * 16][];
      long most = 0;
      for (int i = 0; i < ALLOCATED_MIB * 16; i++) {
        held[i % held.length] = new byte[1 << 16];
        digest.update(held[i % held.length]);
        if (i % 160 == 0) {
          most = Math.max(most, old.getUsage().getUsed());
        }
      }
      System.out.println(most >> 20);
    }
  }

  @Test
  void garbageInItIsCollectedBeforeItGrows() throws Exception {
    assertThat(mostMib("small")).isLessThan(400);
    assertThat(mostMib("left alone")).as("what the JVM would do").isGreaterThan(700);
  }

  private static long mostMib(String how) throws Exception {
    Process process =
        new ProcessBuilder(
                List.of(
                    Path.of(System.getProperty("java.home"), "bin/java").toString(),
                    "-XX:+UseSerialGC",
                    "-Xmn8m",
                    "-Xmx1g",
                    "-cp",
                    System.getProperty("java.class.path"),
                    Program.class.getName(),
                    how))
            .redirectError(ProcessBuilder.Redirect.INHERIT)
            .start();
    String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertThat(process.waitFor()).isZero();
    return Long.parseLong(said.strip());
  }
}
