/** What engines share whose commands run on other hosts. */
package dev.writ.sandbox.elsewhere;
