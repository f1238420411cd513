package dev.writ.cli.base;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.Properties;

/** The version of this build. */
public final class Version {
  private Version() {}

  /** As in the root pom, for example {@code 0.1.0}. */
  public static String text() {
    // The launcher's build has looked already, which opens a jar and what the JDK consists of.
    String known = System.getProperty("writ.version");
    if (known != null) {
      return known;
    }
    try (InputStream in = Version.class.getResourceAsStream("version.properties")) {
      Properties properties = new Properties();
      properties.load(in);
      return properties.getProperty("version");
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
