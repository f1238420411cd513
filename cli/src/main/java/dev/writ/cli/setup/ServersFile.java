package dev.writ.cli.setup;

import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.canonicalize.json.ObjectBuilder;
import dev.writ.cli.error.CliError;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.PosixFileAttributes;
import java.nio.file.attribute.PosixFilePermission;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.dataformat.toml.TomlMapper;

/** A file with MCP servers: a client's configuration, or an entry of the registry. */
public final class ServersFile {
  private static final int BYTES_MAX = 8 << 20;
  private static final TomlMapper TOML = new TomlMapper();

  private final Path file;
  private final String text;

  private ServersFile(Path file, String text) {
    this.file = file;
    this.text = text;
  }

  /**
   * Reads a file. A link is followed.
   *
   * @return nothing where there is no such file
   * @throws WritException {@code CLI-076} for one that is too large, no regular file, or not safe
   *     from other users
   */
  public static Optional<ServersFile> open(Path file) {
    try {
      BasicFileAttributes attributes = Files.readAttributes(file, BasicFileAttributes.class);
      if (!attributes.isRegularFile()) {
        throw refused(file, "it is no file");
      }
      if (attributes.size() > BYTES_MAX) {
        throw refused(file, attributes.size() + " bytes, at most " + BYTES_MAX);
      }
      requireOurs(file);
      byte[] bytes;
      try (InputStream in = Files.newInputStream(file)) {
        bytes = in.readNBytes(BYTES_MAX + 1);
      }
      if (bytes.length > BYTES_MAX) {
        throw refused(file, "it grows while it is read");
      }
      return Optional.of(
          new ServersFile(
              file, StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(bytes)).toString()));
    } catch (NoSuchFileException e) {
      if (Files.exists(file, LinkOption.NOFOLLOW_LINKS)) {
        throw new WritException(CliError.IMPORT_FILE, file + ": it leads nowhere", e);
      }
      return Optional.empty();
    } catch (CharacterCodingException e) {
      throw new WritException(CliError.IMPORT_FILE, file + ": it is not UTF-8", e);
    } catch (IOException e) {
      throw new WritException(CliError.IMPORT_FILE, file + ": it cannot be read", e);
    }
  }

  /** What others may write would say what runs here, with the user's secrets. */
  private static void requireOurs(Path file) throws IOException {
    if (!Files.getFileStore(file).supportsFileAttributeView("posix")) {
      return;
    }
    PosixFileAttributes attributes = Files.readAttributes(file, PosixFileAttributes.class);
    if (attributes.permissions().contains(PosixFilePermission.OTHERS_WRITE)) {
      throw refused(file, "everybody may write to it");
    }
    String owner = attributes.owner().getName();
    String user = System.getProperty("user.name");
    if (!owner.equals(user) && !owner.equals("root") && !user.equals("root")) {
      throw refused(file, "it belongs to " + owner);
    }
  }

  private static WritException refused(Path file, String why) {
    return new WritException(CliError.IMPORT_FILE, file + ": " + why);
  }

  public Path file() {
    return file;
  }

  String text() {
    return text;
  }

  boolean isToml() {
    return file.toString().endsWith(".toml");
  }

  /**
   * The servers in it, in its order.
   *
   * @throws WritException {@code CLI-076} for what is no such file
   */
  public List<ConfiguredServer> servers() {
    JsonValue.Obj root = isToml() ? toml(file, text) : json(file, text);
    return new ServersInFile(file, root).all();
  }

  /**
   * A text of JSON with comments.
   *
   * @throws WritException {@code CLI-076}
   */
  static JsonValue.Obj json(Path file, String text) {
    try {
      return (JsonValue.Obj) value(JsoncText.read(file.toString(), text), text);
    } catch (WritException e) {
      throw new WritException(CliError.IMPORT_FILE, e.found(), e);
    }
  }

  private static JsonValue value(JsoncText.Node node, String text) {
    return switch (node) {
      case JsoncText.ObjectNode object -> {
        ObjectBuilder members = JsonValue.object();
        object.members().forEach(m -> members.put(m.name(), value(m.value(), text)));
        yield members.build();
      }
      case JsoncText.ListNode list ->
          JsonValue.of(list.items().stream().map(item -> value(item, text)).toList());
      case JsoncText.TextNode string -> JsonValue.of(string.value());
      case JsoncText.WordNode word -> word(text.substring(word.begin(), word.end()));
    };
  }

  /** Numbers as they are written: here they are arguments and variables. */
  private static JsonValue word(String word) {
    return switch (word) {
      case "true" -> JsonValue.TRUE;
      case "false" -> JsonValue.FALSE;
      case "null" -> JsonValue.NULL;
      default -> JsonValue.of(word);
    };
  }

  /**
   * A text of TOML.
   *
   * @throws WritException {@code CLI-076}
   */
  static JsonValue.Obj toml(Path file, String text) {
    try {
      return (JsonValue.Obj) value(TOML.readTree(text));
    } catch (JacksonException e) {
      throw new WritException(
          CliError.IMPORT_FILE, file + " line " + e.getLocation().getLineNr() + ": no TOML", e);
    }
  }

  private static JsonValue value(JsonNode node) {
    if (node.isObject()) {
      ObjectBuilder members = JsonValue.object();
      for (Map.Entry<String, JsonNode> member : node.properties()) {
        members.put(member.getKey(), value(member.getValue()));
      }
      return members.build();
    }
    if (node.isArray()) {
      List<JsonValue> items = new ArrayList<>();
      node.forEach(item -> items.add(value(item)));
      return JsonValue.of(items);
    }
    return word(node.asString());
  }
}
