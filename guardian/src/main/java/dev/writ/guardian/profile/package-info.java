/** The rules of the seeds for requests that a surface vouches for. */
package dev.writ.guardian.profile;
