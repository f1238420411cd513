package dev.writ.tools.wasm;

/** The error numbers of WASI preview 1 that are returned. */
final class Errno {
  static final int SUCCESS = 0;
  static final int BADF = 8;
  static final int FAULT = 21;
  static final int INVAL = 28;
  static final int ISDIR = 31;
  static final int MFILE = 33;
  static final int NAMETOOLONG = 37;
  static final int NOENT = 44;
  static final int NOSYS = 52;
  static final int NOTDIR = 54;
  static final int NOTSOCK = 57;
  static final int ROFS = 69;
  static final int SPIPE = 70;
  static final int NOTCAPABLE = 76;

  private Errno() {}
}
