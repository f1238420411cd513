package dev.writ.cli.cells;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.cli.OneHome;
import dev.writ.cli.Run;
import dev.writ.postgres.PostgresServer;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;
import java.util.zip.ZipEntry;
import java.util.zip.ZipFile;
import java.util.zip.ZipOutputStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A file that one gateway writes is all that further ones need, and no other file is. */
class AGatewayJoinsByAFileTest {
  private static final PostgresServer SERVER = PostgresServer.shared();

  @TempDir Path dir;
  private Path homes;
  private Path file;

  @BeforeEach
  void folders() throws IOException {
    homes = Files.createDirectory(dir.resolve("homes"));
    file = dir.resolve("gateway.join");
  }

  private Run writ(String home, String... arguments) {
    return new OneHome(homes.resolve(home)).writ(arguments);
  }

  private Run done(String home, String... arguments) {
    return new OneHome(homes.resolve(home)).done(arguments);
  }

  private void refused(String code, String home, String... arguments) {
    Run run = writ(home, arguments);
    assertThat(run.status()).as(run.out()).isNotZero();
    assertThat(run.err()).contains(code);
  }

  private List<String> made() throws IOException {
    try (Stream<Path> all = Files.list(homes)) {
      return all.map(path -> path.getFileName().toString()).sorted().toList();
    }
  }

  private void makeFirst() throws IOException {
    Path contents = Files.createDirectory(dir.resolve("contents"));
    done(
        "one",
        "init",
        "--keys-to",
        dir.resolve("people").toString(),
        "--database",
        SERVER.newAddress().toString().replace("cell=", "schema=join"),
        "--contents",
        contents.toUri().toString(),
        "--cells",
        "3");
  }

  /** A start that is at work has its folder beside the home's place. */
  @Test
  void anotherStartThatIsAtWorkLosesNothing() throws IOException {
    makeFirst();
    done("one", "cells", "invite", file.toString());
    Path parts = Files.createDirectory(homes.resolve("two.partial"));
    Path others = Files.writeString(parts.resolve("writ.json"), "{}");
    refused("CLI-011", "two", "init", "--join", file.toString());
    assertThat(others).hasContent("{}");
  }

  @Test
  void itServesTheSameInstallation() throws IOException {
    makeFirst();
    done("one", "run", "js", "--param", "source=6*7");
    done("one", "cells", "invite", file.toString());
    assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(file)))
        .isEqualTo("rw-------");
    byte[] bytes = Files.readAllBytes(file);
    refused("CLI-023", "one", "cells", "invite", file.toString());
    done("one", "cells", "invite", dir.resolve("again").toString());
    assertThat(dir.resolve("again")).hasBinaryContent(bytes);
    try (ZipFile zip = new ZipFile(file.toFile())) {
      assertThat(zip.stream().map(ZipEntry::getName))
          .contains("writ.json", "gateways.secret", "keys/guardian.pem", "cells/2/database")
          .noneMatch(name -> name.contains("operator") || name.contains("/db/"));
    }

    done("two", "init", "--join", file.toString());
    assertThat(made()).allMatch(name -> name.matches("(one|two)(\\.anchor.*)?"));
    assertThat(done("two", "run", "js", "--param", "source=7*7").out()).contains("49");
    done("two", "audit");
    assertThat(done("one", "receipts").out()).isEqualTo(done("two", "receipts").out());
    for (String same : List.of("gateways.secret", "keys/executor.pem", "keys/log.pem")) {
      Path copy = homes.resolve("two").resolve(same);
      assertThat(copy).hasSameBinaryContentAs(homes.resolve("one").resolve(same));
      assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(copy)))
          .isEqualTo("rw-------");
    }
    refused("CLI-011", "two", "init", "--join", file.toString());
  }

  @Test
  void aHomeThatNobodyCanJoinWritesNone() throws IOException {
    done("alone", "init");
    refused("LED-082", "alone", "cells", "invite", file.toString());
    assertThat(file).doesNotExist();
  }

  private static byte[] zip(String... names) throws IOException {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    try (ZipOutputStream zip = new ZipOutputStream(bytes)) {
      for (String name : names) {
        zip.putNextEntry(new ZipEntry(name));
        zip.write("hostile".getBytes(StandardCharsets.UTF_8));
      }
    }
    return bytes.toByteArray();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "../outside",
        "keys/../../outside",
        "/outside",
        "keys/",
        "keys/./a",
        "keys//a",
        "..",
        "a/.."
      })
  void noNameLeadsOutOfIt(String name) throws IOException {
    Files.write(file, zip("writ.json", name));
    refused("CLI-029", "two", "init", "--join", file.toString());
    assertThat(made()).isEmpty();
    assertThat(dir.resolve("outside")).doesNotExist();
    assertThat(Path.of("/outside")).doesNotExist();
  }

  @Test
  void whatIsNoneLeavesNothing() throws IOException {
    List<byte[]> none =
        new ArrayList<>(
            List.of(
                new byte[0],
                "writ_gateway: 1\n".getBytes(StandardCharsets.UTF_8),
                zip("a", "a/b")));
    makeFirst();
    done("one", "cells", "invite", file.toString());
    byte[] whole = Files.readAllBytes(file);
    none.add(Arrays.copyOf(whole, 300));
    byte[] damaged = whole.clone();
    damaged[200] ^= 1; // in what the first file is compressed to
    none.add(damaged);
    for (byte[] bytes : none) {
      Files.write(file, bytes);
      refused("CLI-029", "two", "init", "--join", file.toString());
    }
    String[] many =
        Stream.iterate(0, n -> n + 1).limit(4097).map(n -> "f" + n).toArray(String[]::new);
    Files.write(file, zip(many));
    refused("CLI-029", "two", "init", "--join", file.toString());
    Files.write(file, zip("keys/guardian.pem"));
    refused("CLI-010", "two", "init", "--join", file.toString());
    refused("CLI-010", "two", "init", "--join", dir.resolve("nothing").toString());
    assertThat(made()).allMatch(name -> name.startsWith("one"));
  }
}
