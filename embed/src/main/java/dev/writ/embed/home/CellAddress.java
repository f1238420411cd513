package dev.writ.embed.home;

import dev.writ.canonicalize.WritException;
import dev.writ.embed.error.EmbedError;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;

/**
 * Where the cells of an installation of several are: beside each other in one database, each with a
 * place of its own in one store of large contents.
 */
final class CellAddress {
  private CellAddress() {}

  /**
   * @param cells how many
   * @throws WritException {@code CLI-027}
   */
  static void requireUsable(URI database, Optional<URI> contents, int cells) {
    if (cells == 1) {
      return;
    }
    String query = database.getRawQuery();
    if (query != null && ("&" + query).contains("&cell=")) {
      throw new WritException(
          EmbedError.CELLS_ADDRESS, "the address names a cell; they are numbered from 0 on");
    }
    if (contents.isEmpty()) {
      throw new WritException(
          EmbedError.CELLS_ADDRESS, "large contents would lie in the home, where one gateway is");
    }
  }

  static URI database(URI first, int cell) {
    if (cell == 0) {
      return first;
    }
    return URI.create(first + (first.getRawQuery() == null ? "?" : "&") + "cell=" + cell);
  }

  /** The place of a cell's contents. None lies within another's: who cleans up lists its own. */
  static URI contents(URI store, int cell, int cells) {
    if (cells == 1) {
      return store;
    }
    String whole = store.toString();
    int query = whole.indexOf('?');
    String path = (query < 0 ? whole : whole.substring(0, query)).replaceAll("/+$", "");
    return URI.create(path + "/cell-" + cell + (query < 0 ? "" : whole.substring(query)));
  }

  /** The same; where the store is a folder, the cell's is made. */
  static URI newContents(URI store, int cell, int cells) {
    URI place = contents(store, cell, cells);
    if (cells > 1 && "file".equals(place.getScheme())) {
      Path folder = Path.of(place.getPath());
      try {
        Files.createDirectories(folder);
      } catch (IOException e) {
        throw new WritException(EmbedError.FILE_UNWRITABLE, folder.toString(), e);
      }
    }
    return place;
  }
}
