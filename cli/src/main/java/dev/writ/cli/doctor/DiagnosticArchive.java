package dev.writ.cli.doctor;

import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.canonicalize.json.ObjectBuilder;
import dev.writ.cli.base.Report;
import dev.writ.cli.error.CliError;
import dev.writ.cli.home.HomeServer;
import dev.writ.embed.error.EmbedError;
import dev.writ.embed.home.Home;
import dev.writ.tools.error.FileTrouble;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.SeekableByteChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileVisitOption;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.LocalDateTime;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.regex.Pattern;
import java.util.zip.ZipEntry;
import java.util.zip.ZipOutputStream;

/**
 * What somebody who helps has to see of an installation, in one ZIP file, and no secret of it
 * (spec/doctor.md). What goes in is chosen, entry by entry; then all of it is searched for every
 * secret that is known here.
 */
public final class DiagnosticArchive {
  /** The earliest time that a ZIP file can say: the same contents are the same file. */
  private static final LocalDateTime TIME = LocalDateTime.of(1980, 1, 1, 0, 0);

  private static final Pattern VARIABLE = Pattern.compile("[A-Za-z_][A-Za-z0-9_]{0,63}");

  /** What no installation words: in these a secret that is an ordinary word stands by chance. */
  private static final List<String> FIXED = List.of("README.txt", "environment.txt");

  private static final String README =
      """
      A diagnostic archive of Writ, made by: writ doctor --archive

      configuration.json  gateway.yaml: its form and numbers. Texts are left out
      environment.txt     names of environment variables. Values are left out
      findings.json       what `writ doctor` finds, with paths of this machine
      log.jsonl           the last lines of the log. Names of people, tenants, runs and tools are left out
      metrics.txt         /metrics of the server, if one runs
      sizes.json          files and bytes in each folder of the data directory
      versions.json       of Writ, Java and the system

      No key, token, password, parameter or output is in it. Look through it before you send it all the same.
      """;

  private final SortedMap<String, byte[]> entries = new TreeMap<>();
  private final KnownSecrets secrets;

  private DiagnosticArchive(KnownSecrets secrets) {
    this.secrets = secrets;
  }

  /**
   * What is to be archived.
   *
   * @param findings as {@code writ doctor --json} shows them
   * @param log a file with lines of the server's log
   */
  public record Source(
      Home home,
      Map<String, String> environment,
      JsonValue versions,
      JsonValue findings,
      Optional<Path> log) {}

  /**
   * What was written.
   *
   * @param entries their names, in the order of the file
   */
  public record Written(Path file, List<String> entries) implements Report {
    @Override
    public JsonValue toJson() {
      return JsonValue.object()
          .put("archive", file.toString())
          .putList("entries", entries, JsonValue::of)
          .build();
    }
  }

  /**
   * Writes a new file of mode 0600.
   *
   * @throws WritException {@code CLI-023} where there is one already, {@code CLI-002} where the log
   *     cannot be read, {@code CLI-003} where the file cannot be written, {@code CLI-109} where a
   *     secret would have been in it; there is no file then
   */
  public static Written write(Path file, Source source) {
    if (Files.exists(file)) {
      throw new WritException(EmbedError.FILE_EXISTS, file.toString());
    }
    DiagnosticArchive archive =
        new DiagnosticArchive(KnownSecrets.of(source.home(), source.environment()));
    archive.gather(source);
    archive.entries.forEach((name, content) -> {
      if (!FIXED.contains(name)
          && archive.secrets.isIn(new String(content, StandardCharsets.UTF_8))) {
        throw new WritException(CliError.ARCHIVE_SECRET, name);
      }
    });
    save(file, archive.bytes());
    return new Written(file, List.copyOf(archive.entries.keySet()));
  }

  private void gather(Source source) {
    text("README.txt", README);
    json("versions.json", source.versions());
    json("findings.json", shown(source.findings()));
    StringBuilder names = new StringBuilder();
    source.environment().keySet().stream()
        .filter(name -> VARIABLE.matcher(name).matches())
        .sorted()
        .forEach(name -> names.append(name).append('\n'));
    text("environment.txt", names.toString());
    Path configuration = source.home().dir().resolve("gateway.yaml");
    if (Files.isRegularFile(configuration)) {
      json("configuration.json", TameConfiguration.of(read(configuration)));
    }
    if (Files.isDirectory(source.home().dir())) {
      json("sizes.json", sizes(source.home().dir()));
    }
    metrics(source.home());
    source
        .log()
        .ifPresent(log -> {
          try {
            entries.put("log.jsonl", TameLog.of(log));
          } catch (IOException e) {
            throw new WritException(EmbedError.FILE_UNREADABLE, log.toString(), e);
          }
        });
  }

  private void text(String name, String text) {
    entries.put(name, text.getBytes(StandardCharsets.UTF_8));
  }

  private void json(String name, JsonValue value) {
    text(name, new String(Jcs.write(value), StandardCharsets.UTF_8) + "\n");
  }

  /** A finding may quote what a library said. */
  private JsonValue shown(JsonValue value) {
    return switch (value) {
      case JsonValue.Str text -> JsonValue.of(secrets.without(text.value()));
      case JsonValue.Arr list -> JsonValue.of(list.items().stream().map(this::shown).toList());
      case JsonValue.Obj object -> {
        ObjectBuilder members = JsonValue.object();
        object.members().forEach((name, member) -> members.put(name, shown(member)));
        yield members.build();
      }
      default -> value;
    };
  }

  private static byte[] read(Path file) {
    try {
      return Files.readAllBytes(file);
    } catch (IOException e) {
      throw new WritException(EmbedError.FILE_UNREADABLE, file.toString(), e);
    }
  }

  /**
   * Names are those that Writ gives its folders; what else lies there is counted as {@code other}.
   */
  private static JsonValue sizes(Path dir) {
    TreeMap<String, long[]> sums = new TreeMap<>();
    List<String> known = List.of("cells", "keys", "ledger", "secrets", "sinks", "tools");
    try {
      Files.walkFileTree(
          dir,
          EnumSet.noneOf(FileVisitOption.class),
          Integer.MAX_VALUE,
          new SimpleFileVisitor<>() {
            @Override
            public FileVisitResult visitFile(Path file, BasicFileAttributes found) {
              Path inside = dir.relativize(file);
              String first = inside.getName(0).toString();
              String folder =
                  inside.getNameCount() == 1
                      ? "files"
                      : !known.contains(first)
                          ? "other"
                          : first.equals("ledger") && inside.getNameCount() > 2
                              ? "ledger/" + inside.getName(1)
                              : first;
              long[] sum = sums.computeIfAbsent(folder, _ -> new long[2]);
              sum[0]++;
              sum[1] += found.size();
              return FileVisitResult.CONTINUE;
            }

            @Override
            public FileVisitResult visitFileFailed(Path file, IOException e) {
              return FileVisitResult.CONTINUE; // a server removes files while it works
            }
          });
      ObjectBuilder sizes = JsonValue.object();
      sums.forEach((folder, sum) ->
          sizes.put(folder, JsonValue.object().put("bytes", sum[1]).put("files", sum[0]).build()));
      return sizes.put("free_bytes", Files.getFileStore(dir).getUsableSpace()).build();
    } catch (IOException e) {
      throw new WritException(EmbedError.FILE_UNREADABLE, dir.toString(), e);
    }
  }

  /** A server that does not answer is what the findings are about. */
  private void metrics(Home home) {
    try {
      HomeServer.of(home)
          .ifPresent(server ->
              text(
                  "metrics.txt",
                  secrets.without(
                      new String(
                          server.getBytes("/metrics", server.token()), StandardCharsets.UTF_8))));
    } catch (WritException e) {
      text("metrics.txt", "# " + e.code().code() + "\n");
    }
  }

  private byte[] bytes() {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    try (ZipOutputStream zip = new ZipOutputStream(bytes)) {
      for (Map.Entry<String, byte[]> entry : entries.entrySet()) {
        ZipEntry head = new ZipEntry(entry.getKey());
        head.setTimeLocal(TIME);
        zip.putNextEntry(head);
        zip.write(entry.getValue());
        zip.closeEntry();
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return bytes.toByteArray();
  }

  private static void save(Path file, byte[] content) {
    boolean whole = false;
    try (SeekableByteChannel channel =
        Files.newByteChannel(
            file,
            EnumSet.of(StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE),
            PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")))) {
      try {
        ByteBuffer left = ByteBuffer.wrap(content);
        while (left.hasRemaining()) {
          channel.write(left);
        }
        whole = true;
      } finally {
        if (!whole) {
          Files.delete(file);
        }
      }
    } catch (FileAlreadyExistsException e) {
      throw new WritException(EmbedError.FILE_EXISTS, file.toString(), e);
    } catch (IOException e) {
      throw new WritException(EmbedError.FILE_UNWRITABLE, FileTrouble.of(file, e), e);
    }
  }
}
