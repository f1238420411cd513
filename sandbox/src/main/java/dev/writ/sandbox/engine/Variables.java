package dev.writ.sandbox.engine;

import dev.writ.sandbox.Command;
import dev.writ.sandbox.Profile;
import dev.writ.sandbox.Reproducible;
import dev.writ.sandbox.egress.EgressProxy;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.Locale;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;

/** The whole environment of a command: nothing is inherited. */
final class Variables {
  static final int PROXY_PORT = 3128;

  private static final DateTimeFormatter FAKETIME =
      DateTimeFormatter.ofPattern("uuuu-MM-dd HH:mm:ss", Locale.ROOT).withZone(ZoneOffset.UTC);

  private Variables() {}

  /**
   * @param faketime libfaketime, if the host has it
   */
  static SortedMap<String, String> of(Profile profile, Command command, Optional<Path> faketime) {
    TreeMap<String, String> all = new TreeMap<>();
    all.put("HOME", profile.home());
    all.put("LANG", "C.UTF-8");
    all.put("PATH", profile.path());
    all.put("TZ", "UTC");
    if (!command.egress().isEmpty()) {
      all.putAll(EgressProxy.variables("http://127.0.0.1:" + PROXY_PORT));
    }
    command.reproducible().ifPresent(how -> reproducible(all, how, faketime));
    all.putAll(command.environment());
    return all;
  }

  private static void reproducible(
      TreeMap<String, String> all, Reproducible how, Optional<Path> faketime) {
    all.put("LC_ALL", "C.UTF-8");
    all.put("PYTHONHASHSEED", Long.toString(Math.floorMod(how.seed(), 4_294_967_296L)));
    all.put("SOURCE_DATE_EPOCH", Long.toString(how.time().getEpochSecond()));
    faketime.ifPresent(library -> {
      all.put("LD_PRELOAD", library.toString());
      all.put("FAKETIME", FAKETIME.format(how.time()));
      all.put("FAKERANDOM_SEED", "0x" + Long.toHexString(how.seed()));
      // Monotonic clocks are not frozen: otherwise no timer of Node would ever fire.
      all.put("FAKETIME_DONT_FAKE_MONOTONIC", "1");
    });
  }

  /** Debian's libfaketime for programs with threads. */
  static Optional<Path> faketime(String triplet) {
    return Optional.of(Path.of("/usr/lib", triplet, "faketime/libfaketimeMT.so.1"))
        .filter(Files::exists);
  }
}
