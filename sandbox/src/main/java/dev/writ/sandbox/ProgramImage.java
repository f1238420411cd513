package dev.writ.sandbox;

/**
 * An image with a program such as the interpreter of a language.
 *
 * @param version the program's full version, as the operator states it
 */
public record ProgramImage(ImageReference image, String version) {}
