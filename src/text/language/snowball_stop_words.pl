# Prints the Snowball stop-word lists, as the Lingua::StopWords package carries them, as a C table:
# one sorted, case-folded list per language, named by its ISO 639-1 code.
use strict;
use warnings;
use utf8;
use Lingua::StopWords qw(getStopWords);
binmode(STDOUT, ':utf8');

# Function words that the package's lists lack.
my %missing = (fr => ['les', 'ces', 'cette', 'cet', 'ils', 'elles', 'où', 'leurs'], it => ['quell', 'quest', 'anch', 'gl']);
my @languages = qw(da de en es fi fr hu id it nl no pt ro ru sv);
print "#include \"text/language/stop_words.h\"\n\n";
print "const struct stop_word_list snowball_stop_words[] = {\n";
for my $language (@languages) {
    my $words = getStopWords($language, 'UTF-8') or die "no stop words for $language";
    my %seen;
    $seen{lc $_} = 1 for (grep { length } keys %$words), @{$missing{$language} // []};
    my $list = join ' ', sort keys %seen;
    die "a stop word with a quotation mark in $language" if $list =~ /["\\]/;
    $list =~ s/(.{60,80}) /$1 "\n     "/g;
    print "    {\"$language\",\n     \"$list\"},\n";
}
print "};\nconst unsigned snowball_stop_word_count = ", scalar(@languages), ";\n";
