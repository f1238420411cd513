package dev.writ.postgres;

import java.io.IOException;
import java.io.InputStream;
import java.io.Reader;
import java.io.StringReader;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import org.flywaydb.core.api.ResourceProvider;
import org.flywaydb.core.api.resource.LoadableResource;

/**
 * The scripts of the schema, by name. Flyway would look for them in folders, and a jar need not
 * have entries for its folders: then it finds none, and says nothing.
 */
final class SchemaScripts implements ResourceProvider {
  private static final List<LoadableResource> ALL =
      List.of(
          new Script("V1__rows.sql"),
          new Script("V2__lease.sql"),
          new Script("V3__cells.sql"),
          new Script("V4__write.sql"),
          new Script("V5__packed.sql"),
          new Script("V6__region.sql"),
          new Script("V7__no_samples_of_contents.sql"));

  private static final class Script extends LoadableResource {
    private final String name;

    Script(String name) {
      this.name = name;
    }

    @Override
    public Reader read() {
      try (InputStream in = SchemaScripts.class.getResourceAsStream("schema/" + name)) {
        return new StringReader(new String(in.readAllBytes(), StandardCharsets.UTF_8));
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }

    @Override
    public String getAbsolutePath() {
      return name;
    }

    @Override
    public String getAbsolutePathOnDisk() {
      return name;
    }

    @Override
    public String getFilename() {
      return name;
    }

    @Override
    public String getRelativePath() {
      return name;
    }
  }

  @Override
  public LoadableResource getResource(String name) {
    return ALL.stream().filter(script -> script.getFilename().equals(name)).findAny().orElse(null);
  }

  @Override
  public Collection<LoadableResource> getResources(String prefix, String[] suffixes) {
    return ALL.stream()
        .filter(script -> script.getFilename().startsWith(prefix))
        .filter(script -> Arrays.stream(suffixes).anyMatch(script.getFilename()::endsWith))
        .toList();
  }
}
