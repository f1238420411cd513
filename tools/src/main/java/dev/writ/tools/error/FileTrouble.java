package dev.writ.tools.error;

import java.io.IOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemException;
import java.nio.file.NoSuchFileException;
import java.nio.file.NotDirectoryException;
import java.nio.file.Path;

/** What the system says about a file, with the file's path and the reason. */
public final class FileTrouble {
  private FileTrouble() {}

  /**
   * @param at the path, where the exception names none: that of a full disk does not
   */
  public static String of(Path at, IOException e) {
    return switch (e) {
      case AccessDeniedException denied -> denied.getFile() + ": no permission";
      case NoSuchFileException none -> none.getFile() + ": not there";
      case FileAlreadyExistsException other -> other.getFile() + ": something else is there";
      case NotDirectoryException file -> file.getFile() + ": no folder";
      case FileSystemException told when told.getReason() != null ->
          told.getFile() + ": " + told.getReason();
      case FileSystemException told -> told.getFile() + ": " + told.getClass().getSimpleName();
      default -> at + ": " + e.getMessage();
    };
  }
}
