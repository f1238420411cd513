package dev.writ.cli.command.key;

import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.crypto.SigningKey;
import dev.writ.canonicalize.trust.KeyRole;
import dev.writ.embed.home.GuardianCard;
import dev.writ.embed.home.Home;
import dev.writ.executor.SystemState;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;

/** Whether what a kernel signs with is in force, as the kernel itself looks (spec/keys.md, 11). */
public record KernelKeys(Home home, SystemState inForce, Instant now) {
  /**
   * @param key of that role in the home
   * @throws WritException {@code EXE-912} where nothing that it signs would be believed, unless a
   *     key waits that the next start takes in its place
   */
  public void require(KeyRole role, SigningKey key) {
    if (!isWaitingInForce(role)) {
      inForce.requireOwnKey(role, key.kid(), GuardianCard.isIn(home), now);
    }
  }

  private boolean isWaitingInForce(KeyRole role) {
    Path file = home.nextKeyFile(role.text());
    try {
      if (!Files.exists(file)) {
        return false;
      }
      inForce.requireOwnKey(role, home.key(file.toString()).kid(), GuardianCard.isIn(home), now);
      return true;
    } catch (WritException e) {
      return false;
    }
  }
}
