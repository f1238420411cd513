# Each operation is a function of its name: it takes the input and gives the output.
package Tool;
use strict;
use warnings;

sub count {
    my ($input, $context) = @_;
    my $text = $input->{text};
    return {
        lines      => scalar(() = $text =~ /\n/g),
        words      => scalar(() = $text =~ /\S+/g),
        characters => length $text,
    };
}

1;
