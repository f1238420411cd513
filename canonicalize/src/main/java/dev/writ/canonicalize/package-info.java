/**
 * What every module shares: digests, the exception that carries an error code, native libraries.
 */
package dev.writ.canonicalize;
