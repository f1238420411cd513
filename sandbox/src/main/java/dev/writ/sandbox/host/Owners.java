package dev.writ.sandbox.host;

import java.io.IOException;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFileAttributeView;

/** Changes the owner of files to a numeric user and group, never through a link. */
public final class Owners {
  private Owners() {}

  public static void give(Path path, long id) throws IOException {
    var lookup = FileSystems.getDefault().getUserPrincipalLookupService();
    String number = Long.toString(id);
    PosixFileAttributeView view =
        Files.getFileAttributeView(path, PosixFileAttributeView.class, LinkOption.NOFOLLOW_LINKS);
    view.setOwner(lookup.lookupPrincipalByName(number));
    view.setGroup(lookup.lookupPrincipalByGroupName(number));
  }

  /** Changes the group of a file, and leaves its owner. */
  public static void giveGroup(Path path, long id) throws IOException {
    var lookup = FileSystems.getDefault().getUserPrincipalLookupService();
    Files.getFileAttributeView(path, PosixFileAttributeView.class, LinkOption.NOFOLLOW_LINKS)
        .setGroup(lookup.lookupPrincipalByGroupName(Long.toString(id)));
  }
}
