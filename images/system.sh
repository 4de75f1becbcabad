#!/bin/sh
# Prepares a Debian or Ubuntu system; on any other it works as long as nothing is missing.
set -eu
recipe=/opt/paritygate/recipe
home=/opt/paritygate
python=$(command -v python3 || command -v python || true)
missing=

lacks() {
    case " $missing " in *" $1 "*) ;; *) missing="$missing $1" ;; esac
}

command -v git >/dev/null || lacks git
[ -e /usr/share/zoneinfo/UTC ] && [ -e /usr/share/zoneinfo/Asia/Shanghai ] || lacks tzdata
[ -e /etc/ssl/certs/ca-certificates.crt ] || lacks ca-certificates
if [ -s $recipe/locales.txt ]; then
    command -v localedef >/dev/null && [ -d /usr/share/i18n/locales ] || lacks locales
fi
if [ -z "$python" ]; then
    lacks python3
    lacks python3-venv
elif ! "$python" -c 'import venv, ensurepip' 2>/dev/null; then
    lacks python3-venv
fi
while read -r package; do
    dpkg-query -W -f '${Status}' "$package" 2>/dev/null | grep -q 'ok installed' || lacks "$package"
done <$recipe/packages.txt

if [ -n "$missing" ]; then
    if ! command -v apt-get >/dev/null; then
        echo "paritygate: the base image has no apt-get and lacks:$missing"
        exit 1
    fi
    apt-get update
    # shellcheck disable=SC2086
    if ! DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends $missing; then
        echo "paritygate: the image's distribution does not give:$missing"
        exit 1
    fi
    rm -rf /var/lib/apt/lists/*
fi

# A name as `tr_TR.ISO-8859-9` or `de_DE.UTF-8@euro`; without an encoding the distribution's list says which it has.
while read -r locale; do
    modifier=$(printf '%s' "$locale" | sed -n 's/.*\(@.*\)/\1/p')
    bare=${locale%"$modifier"}
    language=${bare%%.*}
    encoding=$(printf '%s' "$bare" | sed -n 's/^[^.]*\.//p')
    [ -n "$encoding" ] || encoding=$(awk -v name="$locale" '$1 == name { print $2; exit }' /usr/share/i18n/SUPPORTED)
    [ "$encoding" = utf8 ] && encoding=UTF-8
    if ! localedef -i "$language$modifier" -f "${encoding:-UTF-8}" "$locale"; then
        echo "paritygate: the locale \`$locale\` cannot be made in this image"
        "$(command -v python3 || command -v python)" $recipe/near_locales.py "$locale" || true
        exit 1
    fi
done <$recipe/locales.txt

# Whoever has the user's number in the base makes room for it.
for list in passwd group; do
    sed -e '/^parity:/d' -e '/^[^:]*:[^:]*:1000:/d' /etc/$list >/etc/$list.new
    cat /etc/$list.new >/etc/$list
    rm /etc/$list.new
done
shell=$(command -v bash || echo /bin/sh)
echo "parity:x:1000:1000:parity:/parity/home:$shell" >>/etc/passwd
echo "parity:x:1000:" >>/etc/group

mkdir -p /parity/home /parity/workspace $home/build-wheels
python=$(command -v python3 || command -v python)
"$python" -m venv $home/venv
# What runs as root in a cell must not be a program that the tests' user can write.
ln -s "$(readlink -f "$python")" $home/python
chown -R 1000:1000 /parity/home /parity/workspace $home/venv $home/build-wheels
