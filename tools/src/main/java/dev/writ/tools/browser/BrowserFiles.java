package dev.writ.tools.browser;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.canonicalize.json.ObjectBuilder;
import dev.writ.tools.error.ToolsError;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.Collections;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * The browser tool's own files in a sandbox: the program that drives the browser, the browser's
 * policy, and the parts of Playwright that the build extracted from its driver. Each file of
 * Playwright must have the digest in {@code playwright.tsv}.
 */
final class BrowserFiles {
  /** The directory that is bound to {@code /opt/writ}. */
  static final String PROGRAM = "program";

  /** The directory that is bound to {@code /etc/chromium}. */
  static final String CONFIGURATION = "chromium";

  private static final String PLAYWRIGHT = "playwright-core/";

  private static final SortedMap<String, String> PINNED = pinned();

  private BrowserFiles() {}

  private static final class Holder {
    static final SortedMap<String, byte[]> ALL = Collections.unmodifiableSortedMap(read());
  }

  /**
   * All files by their names.
   *
   * @throws WritException {@code TOL-062}
   */
  static SortedMap<String, byte[]> all() {
    return Holder.ALL;
  }

  /** The digest over all files. Those of Playwright are not read: the list has their digests. */
  static Digest digest() {
    ObjectBuilder json = JsonValue.object();
    for (String name : new String[] {"drive.mjs", "playwright.tsv", "policy.json"}) {
      json.put(name, Digest.sha256(resource(name)));
    }
    return Jcs.digest(json.build());
  }

  private static TreeMap<String, byte[]> read() {
    TreeMap<String, byte[]> all = new TreeMap<>();
    all.put(PROGRAM + "/drive.mjs", resource("drive.mjs"));
    all.put(CONFIGURATION + "/policies/managed/writ.json", resource("policy.json"));
    for (String name : PINNED.keySet()) {
      byte[] bytes = resource(PLAYWRIGHT + name);
      requirePinned(name, bytes);
      all.put(PROGRAM + "/" + PLAYWRIGHT + name, bytes);
    }
    return all;
  }

  /**
   * @throws WritException {@code TOL-062} if a file of Playwright does not have its listed digest
   */
  static void requirePinned(String name, byte[] bytes) {
    Digest found = Digest.sha256(bytes);
    if (!found.hex().equals(PINNED.get(name))) {
      throw new WritException(ToolsError.BROWSER_FILES, PLAYWRIGHT + name + " is " + found);
    }
  }

  /** Digests by names, as {@code playwright.tsv} lists them. */
  private static SortedMap<String, String> pinned() {
    TreeMap<String, String> digests = new TreeMap<>();
    new String(resource("playwright.tsv"), StandardCharsets.US_ASCII)
        .lines()
        .map(line -> line.split("\t"))
        .forEach(parts -> digests.put(parts[1], parts[0]));
    return digests;
  }

  private static byte[] resource(String name) {
    try (InputStream in = BrowserFiles.class.getResourceAsStream(name)) {
      if (in == null) {
        throw new WritException(ToolsError.BROWSER_FILES, name + " is missing");
      }
      return in.readAllBytes();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
