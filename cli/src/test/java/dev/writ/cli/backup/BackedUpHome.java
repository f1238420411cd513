package dev.writ.cli.backup;

import static org.assertj.core.api.Assertions.assertThat;

import com.exceptionfactory.jagged.x25519.X25519KeyPairGenerator;
import dev.writ.cli.OneHome;
import dev.writ.cli.Run;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyPair;
import java.util.ArrayList;
import java.util.List;

/** An installation, a folder for its backups, and a key of age, all below one directory. */
final class BackedUpHome {
  final Path dir;
  final String recipient;
  final Path identity;

  BackedUpHome(Path dir) throws IOException, GeneralSecurityException {
    this.dir = dir;
    KeyPair keys = new X25519KeyPairGenerator().generateKeyPair();
    recipient = keys.getPublic().toString();
    identity = Files.writeString(dir.resolve("key.txt"), keys.getPrivate() + "\n");
    assertThat(ok("init")).contains("Made");
  }

  Path home() {
    return dir.resolve("home");
  }

  Path folder() {
    return dir.resolve("backups");
  }

  /** A command on the home. */
  Run writ(String... args) {
    return new OneHome(home()).writ(args);
  }

  /** What a command prints, which must succeed. */
  String ok(String... args) {
    return new OneHome(home()).done(args).out();
  }

  void refused(String code, String... args) {
    Run run = writ(args);
    assertThat(run.err()).startsWith("writ: " + code + " ");
    assertThat(run.status()).isNotZero();
  }

  /** One more effect. */
  void effect(int number) {
    ok("run", "js", "--param", "source=" + number + "*7");
  }

  String backup() {
    return ok("backup", "--to", folder().toString(), "--recipient", recipient);
  }

  Path restored() {
    return dir.resolve("restored");
  }

  /** The arguments of a restore to {@link #restored}. */
  String[] restore(String... more) {
    List<String> all =
        new ArrayList<>(
            List.of(
                "restore",
                "--from",
                folder().toString(),
                "--home",
                restored().toString(),
                "--identity",
                identity.toString()));
    all.addAll(List.of(more));
    return all.toArray(String[]::new);
  }
}
