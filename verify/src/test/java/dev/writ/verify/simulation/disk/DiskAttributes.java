package dev.writ.verify.simulation.disk;

import dev.writ.verify.simulation.disk.MemoryDisk.Content;
import dev.writ.verify.simulation.disk.MemoryDisk.Directory;
import dev.writ.verify.simulation.disk.MemoryDisk.Node;
import java.nio.file.attribute.FileTime;
import java.nio.file.attribute.GroupPrincipal;
import java.nio.file.attribute.PosixFileAttributeView;
import java.nio.file.attribute.PosixFileAttributes;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.UserPrincipal;
import java.util.EnumSet;
import java.util.Optional;
import java.util.Set;

/** Of a file or directory, which is its owner's alone and has no times. */
record DiskAttributes(Node node) implements PosixFileAttributes {
  @Override
  public Set<PosixFilePermission> permissions() {
    return EnumSet.of(PosixFilePermission.OWNER_READ, PosixFilePermission.OWNER_WRITE);
  }

  @Override
  public boolean isRegularFile() {
    return node instanceof Content;
  }

  @Override
  public boolean isDirectory() {
    return node instanceof Directory;
  }

  @Override
  public boolean isSymbolicLink() {
    return false;
  }

  @Override
  public boolean isOther() {
    return false;
  }

  @Override
  public long size() {
    return node instanceof Content content ? content.bytes().length : 0;
  }

  @Override
  public Object fileKey() {
    return node;
  }

  @Override
  public FileTime lastModifiedTime() {
    return FileTime.fromMillis(0);
  }

  @Override
  public FileTime lastAccessTime() {
    return lastModifiedTime();
  }

  @Override
  public FileTime creationTime() {
    return lastModifiedTime();
  }

  @Override
  public UserPrincipal owner() {
    return () -> "owner";
  }

  @Override
  public GroupPrincipal group() {
    throw new UnsupportedOperationException();
  }

  /** Says that there are permissions. */
  record View(Optional<Node> node) implements PosixFileAttributeView {
    @Override
    public String name() {
      return "posix";
    }

    @Override
    public PosixFileAttributes readAttributes() {
      return new DiskAttributes(node.orElseThrow());
    }

    @Override
    public void setTimes(FileTime modified, FileTime accessed, FileTime created) {
      throw new UnsupportedOperationException();
    }

    @Override
    public void setPermissions(Set<PosixFilePermission> permissions) {
      throw new UnsupportedOperationException();
    }

    @Override
    public void setGroup(GroupPrincipal group) {
      throw new UnsupportedOperationException();
    }

    @Override
    public void setOwner(UserPrincipal owner) {
      throw new UnsupportedOperationException();
    }

    @Override
    public UserPrincipal getOwner() {
      return () -> "owner";
    }
  }
}
