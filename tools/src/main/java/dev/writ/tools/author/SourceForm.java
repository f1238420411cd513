package dev.writ.tools.author;

import dev.writ.tools.error.ToolsError;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.SortedMap;
import java.util.jar.Attributes;
import java.util.jar.JarFile;
import java.util.jar.Manifest;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.zip.ZipEntry;
import java.util.zip.ZipInputStream;

/**
 * Requires that people, parsers and runtimes read a package's files alike: sources are plain UTF-8,
 * and there is no file that the language's runtime would load but its parser does not read
 * (spec/tool-package.md).
 */
public final class SourceForm {
  /** Extensions of files that some runtime loads directly, or looks into. */
  private static final Pattern LOADABLE =
      Pattern.compile(
          "(?i).*\\.(?:a|bs|class|dll|dylib|egg|jar|jmod|node|o|pmc|pth|pyc|pyd|pyo|pyz|so|wasm|whl"
              + "|zip)(?:\\.[0-9.]+)?");

  /** Folders and files that runtimes find by name. */
  private static final Pattern SOUGHT =
      Pattern.compile(
          "(?i)(?:.*/)?(?:__pycache__|node_modules)/.*|(?:.*/)?(?:site|user)customize\\..*");

  /** The first bytes of compiled forms, whatever their file names. */
  private static final Map<String, byte[]> MAGIC =
      Map.of(
          "an ELF program or library", new byte[] {0x7f, 'E', 'L', 'F'},
          "a class of Java", new byte[] {(byte) 0xca, (byte) 0xfe, (byte) 0xba, (byte) 0xbe},
          "a WebAssembly module", new byte[] {0, 'a', 's', 'm'});

  /**
   * Characters that an editor does not show, or shows in another place than where a parser reads
   * them: control characters except tab, line ends and form feed, and characters that end a line or
   * change the direction of text invisibly.
   */
  private static final Pattern UNSEEN =
      Pattern.compile(
          "[\\x00-\\x08\\x0b\\x0e-\\x1f\\x7f-\\x9f\\u061c\\u200e\\u200f\\u2028-\\u202e\\u2066-\\u2069"
              + "\\ufeff]");

  private static final int MANIFEST_BYTES_MAX = 256 << 10;

  private SourceForm() {}

  /**
   * Files that do not have this form, in the order of their paths; empty for a good package, and
   * for languages whose packages bring their own runtime, which cannot be checked.
   *
   * @param compiled files that {@code tool.manifest} names as compiled
   */
  public static List<LintFinding> check(
      Language language, List<String> compiled, SortedMap<String, byte[]> files) {
    List<LintFinding> findings = new ArrayList<>();
    if (language.sources().isEmpty() || language.equals(Language.WASM)) {
      return findings;
    }
    Pattern redeclares = Pattern.compile(language.redeclares());
    files.forEach((path, bytes) -> {
      if (language.isSource(path)) {
        encoding(path, bytes, redeclares).ifPresent(findings::add);
      }
      if (compiled.contains(path)) {
        classPath(path, bytes).ifPresent(findings::add);
      } else {
        loadable(path, bytes)
            .map(what -> new LintFinding(ToolsError.COMPILED_FILE, path, what))
            .ifPresent(findings::add);
      }
    });
    return findings;
  }

  /** Whether a file is, by its name, code that people and parsers cannot read. */
  public static boolean isCompiled(String path) {
    return LOADABLE.matcher(path).matches();
  }

  /**
   * The same as a requirement, before a package runs.
   *
   * @throws dev.writ.canonicalize.WritException with the first finding
   */
  public static void require(
      Language language, List<String> compiled, SortedMap<String, byte[]> files) {
    check(language, compiled, files).stream()
        .findFirst()
        .ifPresent(finding -> {
          throw finding.refusal();
        });
  }

  private static Optional<LintFinding> encoding(String path, byte[] bytes, Pattern redeclares) {
    String text;
    try {
      text = StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(bytes)).toString();
    } catch (CharacterCodingException e) {
      return Optional.of(new LintFinding(ToolsError.SOURCE_ENCODING, path, "is not UTF-8"));
    }
    Matcher unseen = UNSEEN.matcher(text);
    if (unseen.find()) {
      return Optional.of(
          new LintFinding(
              ToolsError.SOURCE_ENCODING,
              place(path, text, unseen.start()),
              String.format(
                  Locale.ROOT, "the character U+%04X", (int) text.charAt(unseen.start()))));
    }
    Matcher other = redeclares.matcher(text);
    return !redeclares.pattern().isEmpty() && other.find()
        ? Optional.of(
            new LintFinding(
                ToolsError.SOURCE_ENCODING,
                place(path, text, other.end()),
                "declares that it is read otherwise than as UTF-8"))
        : Optional.empty();
  }

  private static String place(String path, String text, int at) {
    return path + " line " + text.substring(0, at).lines().count();
  }

  /** Why no parser reads a file. */
  private static Optional<String> loadable(String path, byte[] bytes) {
    if (SOUGHT.matcher(path).matches()) {
      return Optional.of("a name that a runtime looks for by itself");
    }
    if (LOADABLE.matcher(path).matches()) {
      return Optional.of("an ending of compiled code, or of an archive of code");
    }
    for (Map.Entry<String, byte[]> magic : MAGIC.entrySet()) {
      if (begins(bytes, magic.getValue())) {
        return Optional.of(magic.getKey());
      }
    }
    return isPython(bytes) ? Optional.of("a compiled module of Python") : Optional.empty();
  }

  private static boolean begins(byte[] bytes, byte[] magic) {
    return bytes.length >= magic.length
        && ByteBuffer.wrap(bytes, 0, magic.length).equals(ByteBuffer.wrap(magic));
  }

  /** A number from 3,000 to 4,000, little endian, and a line end: every version 3 so far. */
  private static boolean isPython(byte[] bytes) {
    return bytes.length >= 4
        && bytes[1] >= 0x0b
        && bytes[1] <= 0x0f
        && bytes[2] == '\r'
        && bytes[3] == '\n';
  }

  /** Refuses a jar whose manifest adds to the class path: it would load files that nobody named. */
  private static Optional<LintFinding> classPath(String path, byte[] bytes) {
    boolean leads = false;
    int entries = 0;
    try (ZipInputStream zip = new ZipInputStream(new ByteArrayInputStream(bytes))) {
      for (ZipEntry entry = zip.getNextEntry(); entry != null; entry = zip.getNextEntry()) {
        entries++;
        if (entry.getName().equalsIgnoreCase(JarFile.MANIFEST_NAME)) {
          Manifest manifest =
              new Manifest(new ByteArrayInputStream(zip.readNBytes(MANIFEST_BYTES_MAX)));
          leads |= manifest.getMainAttributes().getValue(Attributes.Name.CLASS_PATH) != null;
        }
      }
    } catch (IOException | IllegalArgumentException e) {
      entries = 0;
    }
    if (entries > 0 && !leads) {
      return Optional.empty();
    }
    return Optional.of(
        new LintFinding(
            ToolsError.COMPILED_FILE,
            path,
            leads ? "its manifest has a Class-Path" : "is no jar that can be read"));
  }
}
