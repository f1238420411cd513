package dev.writ.gateway.http;

import dev.writ.gateway.http.auth.Certificates;
import dev.writ.gateway.http.auth.Tokens;
import dev.writ.gateway.http.limit.HttpLimits;
import dev.writ.gateway.http.server.CellChoice;
import dev.writ.gateway.http.server.Front;
import dev.writ.gateway.http.server.HopKey;
import java.security.SecureRandom;
import java.time.Duration;
import java.time.InstantSource;
import java.util.List;
import java.util.Optional;

/** Opens fronts on free ports of this machine, which have no surfaces and own nothing yet. */
final class TestFront {
  /** By which the gateways of a test know each other. */
  static final HopKey KEY = new HopKey(new byte[32]);

  private TestFront() {}

  static Front open(CellChoice choice) {
    return open(choice, _ -> {});
  }

  static Front open(CellChoice choice, Observer observer) {
    return Front.open(
        new Front.Config(
            Listen.loopback(0),
            HttpLimits.DEFAULT,
            List.of(),
            List.of(),
            List.of(),
            new HopSettings(
                "127.0.0.1", 0, Optional.empty(), Optional.empty(), Duration.ofSeconds(90)),
            KEY,
            choice,
            0,
            observer,
            (_, _) -> {},
            InstantSource.system(),
            new SecureRandom()));
  }

  /** So many cells in one region, of callers that have tokens. */
  static CellChoice cells(int cells, Tokens tokens) {
    return new CellChoice(cells, "local", Optional.empty(), tokens, new Certificates(List.of()));
  }

  /** One cell, which nobody has a token for. */
  static CellChoice oneCell() {
    return cells(1, new Tokens(List.of()));
  }
}
